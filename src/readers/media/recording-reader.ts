import { detectedType } from '../reading/detected-type.ts';
import type { MakeReader } from '../reading/format-reader.ts';
import { decodeText } from '../text/charset.ts';
import { RECORDING_TYPES } from './recordings.ts';

/** Recognises recordings and says no more about them: a child process of their own opens and reads them (media.ts). */
export const recording: MakeReader = (mediaType) => {
  const type = RECORDING_TYPES.find((known) => known.mediaType === mediaType);
  if (!type) throw new RangeError(`${mediaType} is no recording`);
  const names = [mediaType, ...(type.synonyms ?? [])];
  return {
    // Text wins over a recording's signature.
    sniff: async (file) =>
      file.find(decodeText) === undefined && names.includes((await file.find(detectedType)) ?? ''),
    open: () => ({ kind: type.kind, mediaType }),
  };
};
