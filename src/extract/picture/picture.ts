import { createHash } from 'node:crypto';
import { fileTypeFromBuffer } from 'file-type';
import sharp, { type Sharp } from 'sharp';
import type { ExtractLimits, FileInfo, PictureContent, PictureSpec } from '../../domain/document.ts';
import { FarthingError } from '../../domain/error.ts';
import type { Preview } from '../../domain/preview.ts';
import { native } from '../../native/index.ts';
import { corrupt, tooLarge } from '../reading/refusal.ts';
import { type BmpHeader, decodeBmp, type RawPicture, readBmpHeader } from './bmp.ts';

/** The pictures that libvips reads, and its names for them. */
const FORMATS = {
  'image/jpeg': 'jpeg',
  'image/png': 'png',
  'image/webp': 'webp',
  'image/gif': 'gif',
  'image/tiff': 'tiff',
  'image/avif': 'heif',
  'image/svg+xml': 'svg',
} as const;

export type PictureType = keyof typeof FORMATS | 'image/bmp';

const TYPES: Readonly<Record<string, PictureType>> = {
  ...Object.fromEntries(Object.keys(FORMATS).map((type) => [type, type as PictureType])),
  'image/apng': 'image/png',
  'image/bmp': 'image/bmp',
};

/** Grey picture that the fingerprint is made from. */
const GREY_SIDE_PIXELS = 64;
/** Pixels at which the trial decoding of `openPicture` is made: every byte is read, little is kept. */
const TRIAL_SIDE_PIXELS = 32;
const WHITE = '#ffffff';
/** libwebp's scales: quality as its manual suggests for photographs, little effort because somebody waits. */
const PREVIEW_QUALITY = 78;
const PREVIEW_EFFORT = 2;
/** What the recognition of a type needs to see. */
const PROBE_BYTES = 256 * 1024;
const SVG_PROBE_BYTES = 8192;
/** A comment ends at its first "-->": with two ways to read one, so many comments would have 2^n, all of them tried. */
const SVG_START =
  /^\ufeff?(<\?xml[^>]{0,500}\?>|<!--(?:(?!-->)[\s\S]){0,2000}-->|<!doctype[^>[]{0,500}>|\s)*<svg[\s>]/i;

const TIFF_STARTS = ['II*\0', 'MM\0*'];

function looksLikeSvg(bytes: Uint8Array): boolean {
  return SVG_START.test(Buffer.from(bytes.subarray(0, SVG_PROBE_BYTES)).toString('utf8'));
}

/** Only the decoders that are needed; one thread for each process; nothing kept between files. */
export function prepareSharp(): void {
  sharp.cache(false);
  sharp.concurrency(1);
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({
    operation: ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Tiff', 'Heif', 'Svg'].map(
      (name) => `VipsForeignLoad${name}`,
    ),
  });
}

/** The type of a picture by its content; undefined for what is none that can be read. */
export async function pictureTypeOf(bytes: Uint8Array): Promise<PictureType | undefined> {
  if (looksLikeSvg(bytes)) return 'image/svg+xml';
  const found = await fileTypeFromBuffer(bytes.subarray(0, PROBE_BYTES)).catch(() => undefined);
  if (found) return TYPES[found.mime];
  // One that is cut off has lost the directory by which a TIFF is told from raw photographs.
  return TIFF_STARTS.includes(Buffer.from(bytes.subarray(0, 4)).toString('latin1'))
    ? 'image/tiff'
    : undefined;
}

/** Dimensions, checked before a pixel is decoded; then every pixel is decoded once. @throws file_corrupt, document_too_large. */
export async function openPicture(
  bytes: Uint8Array,
  mediaType: PictureType,
  limits: ExtractLimits,
): Promise<FileInfo> {
  const source = await openSource(bytes, mediaType, limits);
  await decoding(() =>
    source.pipeline().resize(TRIAL_SIDE_PIXELS, TRIAL_SIDE_PIXELS, { fit: 'fill' }).raw().toBuffer(),
  );
  const { width, height, frames, delays } = source;
  return {
    kind: 'picture',
    mediaType,
    width,
    height,
    ...(delays && { duration_s: seconds(delays) }),
    ...(!delays && frames > 1 && { pages: frames }),
  };
}

/** The picture, or its first frame or page, as models and fingerprints want it. @throws as openPicture. */
export async function readPicture(
  bytes: Uint8Array,
  mediaType: PictureType,
  limits: ExtractLimits,
  spec: PictureSpec | undefined,
): Promise<PictureContent> {
  const source = await openSource(bytes, mediaType, limits);
  return finish(source, spec, { digest: createHash('sha256').update(bytes).digest() });
}

/** How long so many frames of an animation are shown. */
export function seconds(delays: readonly number[]): number {
  return delays.reduce((sum, delay) => sum + delay, 0) / 1000;
}

/** One page or frame (from 1) in grey, for a recogniser: at most `sideMax` pixels a side. @throws as openPicture. */
export async function greyOfPicture(
  bytes: Uint8Array,
  mediaType: PictureType,
  page: number,
  sideMax: number,
  limits: ExtractLimits,
): Promise<Grey> {
  const source = await openSource(bytes, mediaType, limits, page - 1);
  return toGrey(source.pipeline(), sideMax);
}

/** The same from pixels that another reader has decoded: the fourth channel is ignored. */
export function greyOfRaw(picture: RawPicture, sideMax: number): Promise<Grey> {
  return toGrey(pipelineOfRaw(picture).removeAlpha(), sideMax);
}

interface Grey {
  readonly grey: Uint8Array;
  readonly width: number;
  readonly height: number;
}

async function toGrey(pipeline: Sharp, sideMax: number): Promise<Grey> {
  const { data, info } = await decoding(() =>
    pipeline
      .resize(sideMax, sideMax, { fit: 'inside', withoutEnlargement: true })
      .greyscale()
      .toColourspace('b-w')
      .raw()
      .toBuffer({ resolveWithObject: true }),
  );
  return { grey: data, width: info.width, height: info.height };
}

/** The same from pixels that another reader has decoded: the fourth channel is ignored. */
export function fromRaw(
  picture: RawPicture,
  spec: PictureSpec | undefined,
  rest: Pick<PictureContent, 'digest' | 'page' | 'time_s' | 'time_end_s'>,
): Promise<PictureContent> {
  const { width, height } = picture;
  return finish({ width, height, pipeline: () => pipelineOfRaw(picture).removeAlpha() }, spec, rest);
}

/**
 * A page (from 1) of the picture, or the frame of a moment, in sRGB without transparency, made smaller where its longer
 * side is over `longSide`; as WebP. @throws as openPicture.
 */
export async function shrinkPicture(
  bytes: Uint8Array,
  mediaType: PictureType,
  limits: ExtractLimits,
  { page, timeS = 0, longSide }: { page: number; timeS?: number; longSide: number },
): Promise<Preview> {
  const first = await openSource(bytes, mediaType, limits);
  const frame = first.delays ? frameAt(first.delays, timeS) : page - 1;
  const source = frame === 0 ? first : await openSource(bytes, mediaType, limits, frame);
  return decoding(() => toWebp(source.pipeline(), longSide));
}

/** Which frame is shown at this second; the last one after the end. */
function frameAt(delays: readonly number[], timeS: number): number {
  let end = 0;
  const found = delays.findIndex((delay) => {
    end += delay;
    return end > timeS * 1000;
  });
  return found < 0 ? delays.length - 1 : found;
}

/** The same from pixels that another reader has decoded. */
export function shrinkRaw(picture: RawPicture, longSide: number): Promise<Preview> {
  return toWebp(pipelineOfRaw(picture).removeAlpha(), longSide);
}

async function toWebp(pipeline: Sharp, longSide: number): Promise<Preview> {
  const { data, info } = await pipeline
    .resize(longSide, longSide, { fit: 'inside', withoutEnlargement: true })
    .webp({ quality: PREVIEW_QUALITY, effort: PREVIEW_EFFORT })
    .toBuffer({ resolveWithObject: true });
  return { bytes: data, width: info.width, height: info.height };
}

export interface Source {
  /** Pixels, after the turn that EXIF asks for. */
  readonly width: number;
  readonly height: number;
  /** The picture in sRGB without transparency, before any scaling. */
  readonly pipeline: () => Sharp;
  /** Pages, or frames of an animation. */
  readonly frames: number;
  /** Milliseconds of each frame of an animation. */
  readonly delays?: readonly number[];
  /** So many frames of an animation, one below the other, where they can be had so: each by itself would be decoded from the first one on. */
  readonly strip?: (from: number, count: number) => Sharp;
}

export async function openSource(
  bytes: Uint8Array,
  mediaType: PictureType,
  limits: ExtractLimits,
  page = 0,
): Promise<Source> {
  if (mediaType === 'image/bmp') return openBmp(bytes, limits);
  const metadata = await decoding(() =>
    sharp(bytes, { failOn: 'error', limitInputPixels: false, page }).metadata(),
  );
  if (metadata.format !== FORMATS[mediaType]) throw corrupt(`it is no ${FORMATS[mediaType]} picture`);
  const { width, height } = metadata.autoOrient;
  checkPixels(width, height, limits);
  const frames = metadata.pages ?? 1;
  const isAnimated = frames > 1 && metadata.delay?.length === frames;
  const plain = (pages: { page: number; pages?: number }): Sharp =>
    sharp(bytes, { failOn: 'error', limitInputPixels: limits.pixelsMax, sequentialRead: true, ...pages })
      .autoOrient()
      .flatten({ background: WHITE })
      .toColourspace('srgb');
  return {
    width,
    height,
    frames,
    ...(isAnimated && { delays: metadata.delay! }),
    // A strip of frames cannot be turned.
    ...(isAnimated &&
      (metadata.orientation ?? 1) === 1 && { strip: (from, count) => plain({ page: from, pages: count }) }),
    pipeline: () => plain({ page }),
  };
}

function openBmp(bytes: Uint8Array, limits: ExtractLimits): Source {
  const header = reading(() => readBmpHeader(bytes));
  checkPixels(header.width, header.height, limits);
  const picture = reading(() => decodeBmp(bytes, header as BmpHeader));
  const { width, height } = picture;
  return { width, height, frames: 1, pipeline: () => pipelineOfRaw(picture).flatten({ background: WHITE }) };
}

function pipelineOfRaw({ data, width, height, channels }: RawPicture): Sharp {
  return sharp(data, { raw: { width, height, channels }, limitInputPixels: false }).toColourspace('srgb');
}

export async function finish(
  { width, height, pipeline }: Pick<Source, 'width' | 'height' | 'pipeline'>,
  spec: PictureSpec | undefined,
  rest: Pick<PictureContent, 'digest' | 'page' | 'time_s' | 'time_end_s'>,
): Promise<PictureContent> {
  const [content] = await finishAll({ width, height, pipeline }, 1, spec);
  return { ...content!, ...rest };
}

/** The contents of so many pictures of one size, one below the other. */
export async function finishAll(
  { width, height, pipeline }: Pick<Source, 'width' | 'height' | 'pipeline'>,
  count: number,
  spec: PictureSpec | undefined,
): Promise<Omit<PictureContent, 'digest'>[]> {
  const grey = await decoding(() =>
    pipeline()
      .resize(GREY_SIDE_PIXELS, GREY_SIDE_PIXELS, { fit: 'fill', kernel: 'cubic' })
      .greyscale()
      .toColourspace('b-w')
      .raw()
      .toBuffer(),
  );
  const rgb = spec
    ? await decoding(() =>
        pipeline()
          .resize(spec.width, spec.height, { fit: spec.fit, kernel: spec.resample, background: WHITE })
          .raw()
          .toBuffer(),
      )
    : new Uint8Array();
  const greys = partsOf(grey, count, GREY_SIDE_PIXELS ** 2);
  const colours = partsOf(rgb, count, spec ? spec.width * spec.height * 3 : 0);
  return greys.map((one, at) => ({
    pixels: { rgb: colours[at]! },
    fingerprint: native.pictureFingerprint(one, GREY_SIDE_PIXELS, GREY_SIDE_PIXELS),
    width,
    height,
  }));
}

function partsOf(bytes: Uint8Array, count: number, length: number): Uint8Array[] {
  if (bytes.length !== count * length) throw new RangeError(`${count} pictures of ${bytes.length} bytes`);
  return Array.from({ length: count }, (_, at) => bytes.subarray(at * length, (at + 1) * length));
}

function checkPixels(width: number, height: number, limits: ExtractLimits): void {
  if (width * height > limits.pixelsMax) {
    throw tooLarge(`Send pictures of at most ${limits.pixelsMax} pixels.`, {
      width,
      height,
      pixels: width * height,
      limit_pixels: limits.pixelsMax,
    });
  }
}

/** The decoder's own words stay here: they name memory and files of this process. */
async function decoding<T>(decode: () => Promise<T>): Promise<T> {
  try {
    return await decode();
  } catch (error) {
    if (error instanceof FarthingError) throw error;
    throw new FarthingError(
      'file_corrupt',
      'The picture cannot be decoded: it is damaged or incomplete. Send it again, whole.',
      { cause: error },
    );
  }
}

function reading<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError) throw corrupt(error.message);
    throw error;
  }
}
