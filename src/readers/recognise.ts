import { FarthingError } from '@farthing/protocol/error';
import { READABLE_NAMES, READABLE_TYPES } from './formats.ts';
import { detectedType } from './reading/detected-type.ts';
import type { FormatReader } from './reading/format-reader.ts';
import type { SourceFile } from './reading/source-file.ts';

/** The first reader whose format the file is of, by its content. @throws media_type_unsupported, and what `sniff` throws. */
export async function recognise(readers: Iterable<FormatReader>, file: SourceFile): Promise<FormatReader> {
  for (const reader of readers) {
    const rejected = reader.rejects?.(file);
    if (rejected !== undefined) throw unsupported(rejected);
    if (await reader.sniff(file)) return reader;
  }
  throw unsupported(await file.find(detectedType));
}

/** What to do with files that stay refused. */
const ADVICE: readonly (readonly [types: RegExp, advice: string])[] = [
  [/rar/, 'unpack it and send the files, or a zip of them'],
  [/arrow|avro|orc\b/, 'export its tables as Parquet or CSV'],
  [/mobipocket/, 'convert it to EPUB'],
  [/postscript|vnd\.ms-htmlhelp|onenote|visio/, 'print or export it as PDF'],
  [/jxl|image\/(jp2|jpx|x-icon|vnd\.adobe\.photoshop)/, 'convert it to PNG or JPEG'],
  [/pkcs7/, 'save the signed or encrypted file as it is without its envelope'],
];

/** A refusal with the list of formats that can be read. @param mediaType undefined for an unknown one */
export function unsupported(mediaType: string | undefined): FarthingError {
  const what =
    mediaType === undefined ? 'The file is of no type that is known here' : `${mediaType} cannot be read`;
  const advice = ADVICE.find(([types]) => types.test(mediaType ?? ''))?.[1];
  const why = advice === undefined ? '' : `: ${advice}`;
  return new FarthingError('media_type_unsupported', `${what}${why}. Send ${READABLE_NAMES}.`, {
    facts: { ...(mediaType && { media_type: mediaType }), readable: [...READABLE_TYPES] },
  });
}
