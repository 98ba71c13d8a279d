import type { ExtractLimits, FileInfo } from '../../domain/document.ts';
import { detectedType } from '../reading/detected-type.ts';
import type { MakeReader, ReadContext } from '../reading/format-reader.ts';
import type { Sink, Summary } from '../reading/sink.ts';
import { decodeText } from '../text/charset.ts';
import { captionOf } from './caption.ts';
import { greyOfSource } from './grey.ts';
import { previewOfPicture } from './picture-preview.ts';
import { readPictures, secondsOf } from './picture-sequence.ts';
import { decoding, openSource } from './picture-source.ts';
import { PICTURE_TYPES } from './picture-types.ts';
import { ShotMerger } from './shots.ts';
import { JUDGED_SIDE_PIXELS, looksLikeTextPage } from './text-page-test.ts';

const SVG = 'image/svg+xml';
const SVG_PROBE_BYTES = 8192;
/** Each comment ends at its first "-->". If it could end in two ways, n comments would be tried in 2^n. */
const SVG_START =
  /^\ufeff?(<\?xml[^>]{0,500}\?>|<!--(?:(?!-->)[\s\S]){0,2000}-->|<!doctype[^>[]{0,500}>|\s)*<svg[\s>]/i;
const TIFF_STARTS = ['II*\0', 'MM\0*'];
/** Side of the trial decoding of a picture that is not read at once: every byte is read, little is kept. */
const TRIAL_SIDE_PIXELS = 32;
/** Pixels of a picture that is read when it is opened: a tenth of a second. */
const READ_ALONG_PIXELS_MAX = 16 * 2 ** 20;

export const picture: MakeReader = (mediaType) => ({
  sniff: async (file) => {
    // Text wins over a picture's signature, unless it is the text of a drawing.
    if (mediaType !== SVG && file.find(decodeText) !== undefined) return false;
    return (await file.find(pictureTypeOf)) === mediaType;
  },
  open: ({ bytes }, { limits }) => openPicture(bytes, mediaType, limits),
  tryOut: async ({ bytes }, { limits }) => {
    const { pipeline } = await openSource(bytes, mediaType, limits);
    await decoding(() =>
      pipeline().resize(TRIAL_SIDE_PIXELS, TRIAL_SIDE_PIXELS, { fit: 'fill' }).raw().toBuffer(),
    );
    return undefined;
  },
  readsAlong: (_file, { pages, duration_s, width = 0, height = 0 }) =>
    pages === undefined && duration_s === undefined && width * height <= READ_ALONG_PIXELS_MAX,
  read: ({ bytes }, context, sink) => extractPicture(bytes, mediaType, context, sink),
  preview: ({ bytes }, place, { limits }) => previewOfPicture(bytes, mediaType, place, limits),
});

/** The media type of a picture by its content; undefined for what is none of the table. */
export async function pictureTypeOf(bytes: Uint8Array): Promise<string | undefined> {
  if (looksLikeSvg(bytes)) return SVG;
  const detected = await detectedType(bytes);
  if (detected !== undefined)
    return PICTURE_TYPES.find(
      ({ mediaType, synonyms = [] }) => mediaType === detected || synonyms.includes(detected),
    )?.mediaType;
  // A TIFF that is cut off has lost the directory by which file-type tells it from raw photographs.
  return TIFF_STARTS.includes(Buffer.from(bytes.subarray(0, 4)).toString('latin1'))
    ? 'image/tiff'
    : undefined;
}

function looksLikeSvg(bytes: Uint8Array): boolean {
  return SVG_START.test(Buffer.from(bytes.subarray(0, SVG_PROBE_BYTES)).toString('utf8'));
}

/** Checks the dimensions before any pixel is decoded. */
async function openPicture(bytes: Uint8Array, mediaType: string, limits: ExtractLimits): Promise<FileInfo> {
  const { width, height, frames, delays } = await openSource(bytes, mediaType, limits);
  return {
    kind: 'picture',
    mediaType,
    width,
    height,
    ...(delays && { duration_s: secondsOf(delays) }),
    ...(!delays && frames > 1 && { pages: frames }),
  };
}

/** The caption as text; every page as a picture; frames of an animation merged to shots. */
async function extractPicture(
  bytes: Uint8Array,
  mediaType: string,
  { limits, pictureSpec }: ReadContext,
  sink: Sink,
): Promise<Summary> {
  const caption = await captionOf(bytes, mediaType).catch(() => undefined);
  if (caption) await sink.block(caption);
  const shots = new ShotMerger(limits.pagePicturesMax);
  const textless: number[] = [];
  for await (const { content, source } of readPictures(bytes, mediaType, limits, pictureSpec)) {
    if (!source) {
      shots.push(content);
      continue;
    }
    await sink.picture(content);
    const { grey, width } = await greyOfSource(source, JUDGED_SIDE_PIXELS);
    if (looksLikeTextPage(grey, width)) textless.push(content.page ?? 1);
  }
  for (const shot of shots.finish()) await sink.picture(shot);
  return { textless };
}
