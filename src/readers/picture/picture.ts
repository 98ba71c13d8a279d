import type { ExtractLimits, FileInfo } from '@farthing/protocol/document';
import { detectedType } from '../reading/detected-type.ts';
import type { MakeReader, ReadContext } from '../reading/format-reader.ts';
import type { Sink, Summary } from '../reading/sink.ts';
import { decodeText } from '../text/charset.ts';
import { captionOf } from './caption.ts';
import { greyOfSource } from './grey.ts';
import { previewOfPicture } from './picture-preview.ts';
import { readPictures, secondsOf } from './picture-sequence.ts';
import { decoding, openSource, type PictureSource } from './picture-source.ts';
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
const READ_ON_OPEN_PIXELS_MAX = 16 * 2 ** 20;

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
  readsOnOpen: (_file, { pages, duration_s, width = 0, height = 0 }) =>
    pages === undefined && duration_s === undefined && width * height <= READ_ON_OPEN_PIXELS_MAX,
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
  const caption = await captionOf(bytes, mediaType, sink.notRead).catch(() => undefined);
  if (caption) await sink.block(caption);
  const shots = new ShotMerger(limits.pagePicturesMax);
  const frames: number[] = [];
  const textless: number[] = [];
  const scenes: number[] = [];
  let unseen = 0;
  for await (const picture of readPictures(bytes, mediaType, limits, pictureSpec, sink.notRead)) {
    if ('frame' in picture) {
      shots.push(picture.content);
      frames.push(picture.frame);
      continue;
    }
    if (picture.content) await sink.picture(picture.content);
    else unseen++;
    ((await textPageOf(picture.source)) ? textless : scenes).push(picture.page);
  }
  for (const shot of shots.finish()) await sink.picture(shot);
  const written = await framesWithText(frames, (frame) => openSource(bytes, mediaType, limits, frame));
  if (shots.dropped > 0) sink.notRead('frames', 'limit', shots.dropped);
  if (unseen > 0) sink.notRead('pictures', 'limit', unseen);
  if (written.unread > 0) sink.notRead('frames', 'limit', written.unread);
  return { textless: [...textless, ...written.frames.map((frame) => frame + 1)], scenes };
}

/** Frames of an animation, spread over it, in which text is looked for: libvips decodes an animation from its start for each. */
const JUDGED_FRAMES_MAX = 20;

/** Pixels that differ between two frames with the same text: a share, and by how many tones. */
const SAME_TEXT_SHARE_MAX = 0.001;
const SAME_TONES_MAX = 40;

/**
 * The frames of an animation that show text, each another one, and how many were not looked at though others do. Shots do not
 * tell them apart: two slides of text look alike.
 */
async function framesWithText(
  frames: readonly number[],
  open: (frame: number) => Promise<PictureSource>,
): Promise<{ frames: readonly number[]; unread: number }> {
  const step = Math.ceil(frames.length / JUDGED_FRAMES_MAX) || 1;
  const judged = frames.filter((_, at) => at % step === 0);
  const found: number[] = [];
  let last: Uint8Array | undefined;
  for (const frame of judged) {
    const page = await textPageOf(await open(frame));
    if (!page || (last && isSameText(last, page))) continue;
    found.push(frame);
    last = page;
  }
  return { frames: found, unread: found.length > 0 ? frames.length - judged.length : 0 };
}

function isSameText(one: Uint8Array, other: Uint8Array): boolean {
  let differing = 0;
  for (let at = 0; at < one.length; at++) if (Math.abs(one[at]! - other[at]!) > SAME_TONES_MAX) differing++;
  return differing <= one.length * SAME_TEXT_SHARE_MAX;
}

/** The small grey picture of a page of text; undefined for any other picture. */
async function textPageOf(source: PictureSource): Promise<Uint8Array | undefined> {
  const { grey, width } = await greyOfSource(source, JUDGED_SIDE_PIXELS);
  return looksLikeTextPage(grey, width) ? grey : undefined;
}
