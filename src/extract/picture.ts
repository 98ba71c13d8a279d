import { createHash } from 'node:crypto';
import sharp, { type Sharp } from 'sharp';
import type { ExtractLimits, Opened, PictureContent, PictureSpec } from '../domain/document.ts';
import { FarthingError } from '../domain/error.ts';
import type { Preview } from '../domain/preview.ts';
import { native } from '../native/index.ts';
import { type BmpHeader, decodeBmp, type RawPicture, readBmpHeader } from './bmp.ts';
import { corrupt, tooLarge } from './refusal.ts';

export type PictureType = 'image/jpeg' | 'image/png' | 'image/webp' | 'image/bmp';

const FORMATS: Record<Exclude<PictureType, 'image/bmp'>, string> = {
  'image/jpeg': 'jpeg',
  'image/png': 'png',
  'image/webp': 'webp',
};

/** Grey picture that the fingerprint is made from. */
const GREY_SIDE_PIXELS = 64;
/** Pixels at which the trial decoding of `openPicture` is made: every byte is read, little is kept. */
const TRIAL_SIDE_PIXELS = 32;
const WHITE = '#ffffff';
/** libwebp's scales: quality as its manual suggests for photographs, little effort because somebody waits. */
const PREVIEW_QUALITY = 78;
const PREVIEW_EFFORT = 2;

/** Only the decoders that are needed; one thread for each process; nothing kept between files. */
export function prepareSharp(): void {
  sharp.cache(false);
  sharp.concurrency(1);
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({ operation: ['VipsForeignLoadJpeg', 'VipsForeignLoadPng', 'VipsForeignLoadWebp'] });
}

/** Dimensions, checked before a pixel is decoded; then every pixel is decoded once. @throws file_corrupt, document_too_large. */
export async function openPicture(
  bytes: Uint8Array,
  mediaType: PictureType,
  limits: ExtractLimits,
): Promise<Opened> {
  const source = await openSource(bytes, mediaType, limits);
  await decoding(() =>
    source.pipeline().resize(TRIAL_SIDE_PIXELS, TRIAL_SIDE_PIXELS, { fit: 'fill' }).raw().toBuffer(),
  );
  return { kind: 'picture', mediaType, width: source.width, height: source.height };
}

/** The picture as models and fingerprints want it. @throws as openPicture. */
export async function readPicture(
  bytes: Uint8Array,
  mediaType: PictureType,
  limits: ExtractLimits,
  spec: PictureSpec | undefined,
): Promise<PictureContent> {
  const source = await openSource(bytes, mediaType, limits);
  const digest = createHash('sha256').update(bytes).digest();
  return finish(source, spec, { digest });
}

/** The same from pixels that another reader has decoded: the fourth channel is ignored. */
export function fromRaw(
  picture: RawPicture & { digest: Uint8Array; page: number },
  spec: PictureSpec | undefined,
): Promise<PictureContent> {
  const { width, height, digest, page } = picture;
  return finish({ width, height, pipeline: () => pipelineOfRaw(picture).removeAlpha() }, spec, {
    digest,
    page,
  });
}

/** The picture in sRGB without transparency, made smaller where its longer side is over `longSide`; as WebP. @throws as openPicture. */
export async function shrinkPicture(
  bytes: Uint8Array,
  mediaType: PictureType,
  limits: ExtractLimits,
  longSide: number,
): Promise<Preview> {
  const source = await openSource(bytes, mediaType, limits);
  return decoding(() => toWebp(source.pipeline(), longSide));
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

interface Source {
  /** Pixels, after the turn that EXIF asks for. */
  readonly width: number;
  readonly height: number;
  /** The picture in sRGB without transparency, before any scaling. */
  readonly pipeline: () => Sharp;
}

async function openSource(bytes: Uint8Array, mediaType: PictureType, limits: ExtractLimits): Promise<Source> {
  if (mediaType === 'image/bmp') return openBmp(bytes, limits);
  const open = () =>
    sharp(bytes, { failOn: 'error', limitInputPixels: limits.pixelsMax, sequentialRead: true });
  const metadata = await decoding(() =>
    sharp(bytes, { failOn: 'error', limitInputPixels: false }).metadata(),
  );
  if (metadata.format !== FORMATS[mediaType]) throw corrupt(`it is no ${FORMATS[mediaType]} picture`);
  const { width, height } = metadata.autoOrient;
  checkPixels(width, height, limits);
  return {
    width,
    height,
    pipeline: () => open().autoOrient().flatten({ background: WHITE }).toColourspace('srgb'),
  };
}

function openBmp(bytes: Uint8Array, limits: ExtractLimits): Source {
  const header = reading(() => readBmpHeader(bytes));
  checkPixels(header.width, header.height, limits);
  const picture = reading(() => decodeBmp(bytes, header as BmpHeader));
  const { width, height } = picture;
  return { width, height, pipeline: () => pipelineOfRaw(picture).flatten({ background: WHITE }) };
}

function pipelineOfRaw({ data, width, height, channels }: RawPicture): Sharp {
  return sharp(data, { raw: { width, height, channels }, limitInputPixels: false }).toColourspace('srgb');
}

async function finish(
  { width, height, pipeline }: Source,
  spec: PictureSpec | undefined,
  rest: { digest: Uint8Array; page?: number },
): Promise<PictureContent> {
  const grey = await decoding(() =>
    pipeline()
      .resize(GREY_SIDE_PIXELS, GREY_SIDE_PIXELS, { fit: 'fill', kernel: 'cubic' })
      .greyscale()
      .toColourspace('b-w')
      .raw()
      .toBuffer({ resolveWithObject: true }),
  );
  if (grey.info.channels !== 1) throw new RangeError(`a grey picture of ${grey.info.channels} channels`);
  const fingerprint = native.pictureFingerprint(grey.data, GREY_SIDE_PIXELS, GREY_SIDE_PIXELS);
  return {
    pixels: { rgb: spec ? await scaled(pipeline(), spec) : new Uint8Array() },
    fingerprint,
    width,
    height,
    ...rest,
  };
}

async function scaled(pipeline: Sharp, spec: PictureSpec): Promise<Uint8Array> {
  const { data, info } = await decoding(() =>
    pipeline
      .resize(spec.width, spec.height, { fit: spec.fit, kernel: spec.resample, background: WHITE })
      .raw()
      .toBuffer({ resolveWithObject: true }),
  );
  if (info.channels !== 3 || data.length !== spec.width * spec.height * 3)
    throw new RangeError(`a picture of ${info.channels} channels`);
  return data;
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
