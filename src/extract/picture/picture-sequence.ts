import { createHash } from 'node:crypto';
import type { ExtractLimits, PictureContent, PictureSpec } from '../../domain/document.ts';
import { tooLarge } from '../reading/refusal.ts';
import { finish, finishAll, openSource, type PictureType, type Source, seconds } from './picture.ts';

/** Frames of an animation that are handed on. */
const FRAMES_LOOKED_AT = 200;
/** Memory for what is made of the frames that are decoded at once. */
const STRIP_BYTES_MAX = 32 * 2 ** 20;

/**
 * All of a picture: one; each page of a TIFF; the frames of an animation with their times, some of many.
 * @throws as openPicture.
 */
export async function* readPictures(
  bytes: Uint8Array,
  mediaType: PictureType,
  limits: ExtractLimits,
  spec: PictureSpec | undefined,
): AsyncGenerator<PictureContent> {
  const first = await openSource(bytes, mediaType, limits);
  const digest = createHash('sha256').update(bytes).digest();
  // The whole file stands for its first picture; the others have no file of their own.
  const digestOf = (frame: number): Uint8Array =>
    frame === 0 ? digest : createHash('sha256').update(digest).update(`${frame}`).digest();
  const { frames, delays } = first;
  if (frames > limits.pagesMax)
    throw tooLarge(`Send pictures of at most ${limits.pagesMax} pages.`, {
      pages: frames,
      limit_pages: limits.pagesMax,
    });
  if (!delays) {
    for (let page = 0; page < Math.min(frames, limits.pagePicturesMax); page++) {
      const source = page === 0 ? first : await openSource(bytes, mediaType, limits, page);
      yield await finish(source, spec, {
        digest: digestOf(page),
        ...(frames > 1 && { page: page + 1 }),
      });
    }
    return;
  }
  const step = Math.ceil(frames / FRAMES_LOOKED_AT);
  const alone = (frame: number): Promise<Source> => openSource(bytes, mediaType, limits, frame);
  for await (const [frame, content] of framesOf(first, alone, step, limits, spec)) {
    yield {
      ...content,
      digest: digestOf(frame),
      time_s: seconds(delays.slice(0, frame)),
      time_end_s: seconds(delays.slice(0, Math.min(frames, frame + step))),
    };
  }
}

/** Every `step`th frame with its number, decoded in strips as long as memory and the limit of pixels let them be. */
async function* framesOf(
  first: Source,
  alone: (frame: number) => Promise<Source>,
  step: number,
  { pixelsMax }: ExtractLimits,
  spec: PictureSpec | undefined,
): AsyncGenerator<[number, Omit<PictureContent, 'digest'>]> {
  const { width, height, frames, strip } = first;
  const bytesEach = Math.max(1, spec ? spec.width * spec.height * 3 : 0) + 64 * 64;
  const most = Math.max(1, Math.floor(Math.min(pixelsMax / (width * height), STRIP_BYTES_MAX / bytesEach)));
  if (!strip || most < step) {
    for (let frame = 0; frame < frames; frame += step) {
      const [content] = await finishAll(frame === 0 ? first : await alone(frame), 1, spec);
      yield [frame, content!];
    }
    return;
  }
  for (let from = 0; from < frames; from += most) {
    const count = Math.min(most, frames - from);
    const contents = await finishAll({ width, height, pipeline: () => strip(from, count) }, count, spec);
    for (const [at, content] of contents.entries()) if ((from + at) % step === 0) yield [from + at, content];
  }
}
