import { createHash } from 'node:crypto';
import type { ExtractLimits, PictureContent, PictureSpec } from '@farthing/protocol/document';
import { tooLarge } from '../reading/refusal.ts';
import type { Sink } from '../reading/sink.ts';
import { contentOf, contentsOf } from './picture-content.ts';
import { decodedOnce, openSource, type PictureSource } from './picture-source.ts';

/** Frames of an animation that are read; of more, every nth one, and the others are told. */
const FRAMES_READ_MAX = 200;
/** Memory for the contents of the frames that are decoded at once. */
const STRIP_BYTES_MAX = 32 * 2 ** 20;

/** One picture of a file. */
export type ReadPicture =
  /** A page, from 1, or the whole file. Absent content: the file has more pages than pictures are kept of. */
  | { readonly page: number; readonly source: PictureSource; readonly content?: PictureContent }
  /** A frame of an animation, from 0. */
  | { readonly frame: number; readonly content: PictureContent };

/** A picture alone, each page of a TIFF, or the frames of an animation with their times. @throws file_corrupt, document_too_large. */
export async function* readPictures(
  bytes: Uint8Array,
  mediaType: string,
  limits: ExtractLimits,
  spec: PictureSpec | undefined,
  report: Sink['notRead'],
): AsyncGenerator<ReadPicture> {
  const first = await openSource(bytes, mediaType, limits);
  const digest = createHash('sha256').update(bytes).digest();
  // The digest of the first picture is the file's. The others' follow from it.
  const digestOf = (frame: number): Uint8Array =>
    frame === 0 ? digest : createHash('sha256').update(digest).update(`${frame}`).digest();
  const { frames, delays } = first;
  if (frames > limits.pagesMax)
    throw tooLarge(`Send pictures of at most ${limits.pagesMax} pages.`, {
      pages: frames,
      limit_pages: limits.pagesMax,
    });
  if (!delays) {
    for (let page = 0; page < frames; page++) {
      const source = await decodedOnce(page === 0 ? first : await openSource(bytes, mediaType, limits, page));
      const place = { digest: digestOf(page), ...(frames > 1 && { page: page + 1 }) };
      const isKept = page < limits.pagePicturesMax;
      yield { page: page + 1, source, ...(isKept && { content: await contentOf(source, spec, place) }) };
    }
    return;
  }
  const step = Math.ceil(frames / FRAMES_READ_MAX);
  if (step > 1) report('frames', 'limit', frames - Math.ceil(frames / step));
  const alone = (frame: number): Promise<PictureSource> => openSource(bytes, mediaType, limits, frame);
  for await (const [frame, content] of framesOf(first, alone, step, limits, spec)) {
    yield {
      frame,
      content: {
        ...content,
        digest: digestOf(frame),
        time_s: secondsOf(delays.slice(0, frame)),
        time_end_s: secondsOf(delays.slice(0, Math.min(frames, frame + step))),
      },
    };
  }
}

/** How long these frames are shown, in seconds. */
export function secondsOf(delays: readonly number[]): number {
  return delays.reduce((sum, delay) => sum + delay, 0) / 1000;
}

/** Every `step`th frame with its number, decoded in strips as long as memory and the limit of pixels allow. */
async function* framesOf(
  first: PictureSource,
  alone: (frame: number) => Promise<PictureSource>,
  step: number,
  { pixelsMax }: ExtractLimits,
  spec: PictureSpec | undefined,
): AsyncGenerator<[number, Omit<PictureContent, 'digest'>]> {
  const { width, height, frames, strip } = first;
  const bytesEach = Math.max(1, spec ? spec.width * spec.height * 3 : 0) + 64 * 64;
  const most = Math.max(1, Math.floor(Math.min(pixelsMax / (width * height), STRIP_BYTES_MAX / bytesEach)));
  if (!strip || most < step) {
    for (let frame = 0; frame < frames; frame += step) {
      const [content] = await contentsOf(frame === 0 ? first : await alone(frame), 1, spec);
      yield [frame, content!];
    }
    return;
  }
  for (let from = 0; from < frames; from += most) {
    const count = Math.min(most, frames - from);
    const contents = await contentsOf({ width, height, pipeline: () => strip(from, count) }, count, spec);
    for (const [at, content] of contents.entries()) if ((from + at) % step === 0) yield [from + at, content];
  }
}
