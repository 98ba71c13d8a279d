import type { ExtractLimits } from '@farthing/protocol/document';
import { FarthingError } from '@farthing/protocol/error';
import sharp, { type Metadata, type Sharp } from 'sharp';
import { corrupt, tooLarge } from '../reading/refusal.ts';
import { type BmpHeader, decodeBmp, type RawPicture, readBmpHeader } from './bmp.ts';
import { decodeHeic, loadLibheif } from './heic.ts';
import { PICTURE_TYPES } from './picture-types.ts';

export const WHITE = '#ffffff';

/** Leaves libvips the loaders of the table alone, one thread for the process, and no cache between files. */
export function prepareSharp(): void {
  sharp.cache(false);
  sharp.concurrency(1);
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({
    operation: PICTURE_TYPES.flatMap(({ libvips }) => (libvips ? [`VipsForeignLoad${libvips.loader}`] : [])),
  });
}

/** Small pictures by which a confined program tries its loaders. Made before `prepareSharp`, which leaves libvips no other. */
export function samplePictures(): Promise<Buffer[]> {
  const sample = sharp({ create: { width: 16, height: 16, channels: 3, background: '#7f7f7f' } });
  return Promise.all(
    [sample.clone().jpeg(), sample.clone().png(), sample.clone().webp()].map((made) => made.toBuffer()),
  );
}

/** One page or frame of a picture, checked against the limits and not decoded yet. */
export interface PictureSource {
  /** Pixels, after the rotation that EXIF asks for. */
  readonly width: number;
  readonly height: number;
  /** The picture in sRGB without transparency, before any scaling. */
  readonly pipeline: () => Sharp;
  /** True where scaling decoded pixels gives the very bytes that scaling the file does, and decoding them once is cheaper. */
  readonly decodesWhole: boolean;
  /** Its pixels have one channel. */
  readonly isGrey: boolean;
  /** Pages, or frames of an animation. */
  readonly frames: number;
  /** How long each frame of an animation is shown, in milliseconds. */
  readonly delays?: readonly number[];
  /**
   * `count` frames of an animation, one below the other. libvips decodes an animation from its start each time: a strip
   * decodes it once for many frames. Absent where frames must be rotated.
   */
  readonly strip?: (from: number, count: number) => Sharp;
}

/** @param page page or frame, from 0. @throws file_corrupt, document_too_large. */
export async function openSource(
  bytes: Uint8Array,
  mediaType: string,
  limits: ExtractLimits,
  page = 0,
): Promise<PictureSource> {
  const format = libvipsFormatOf(mediaType);
  if (!format) return openBmp(bytes, limits);
  const metadata = await metadataOf(bytes, format, limits, page);
  const { width, height } = metadata.autoOrient;
  const frames = metadata.pages ?? 1;
  if (metadata.compression === 'hevc') return openHeic(bytes, { width, height, frames }, page);
  const isAnimated = frames > 1 && metadata.delay?.length === frames;
  const plain = (pages: { page: number; pages?: number }): Sharp =>
    sharp(bytes, { failOn: 'error', limitInputPixels: limits.pixelsMax, sequentialRead: true, ...pages })
      .autoOrient()
      .flatten({ background: WHITE })
      .toColourspace('srgb');
  return {
    width,
    height,
    decodesWhole: decodesWhole(metadata) && width * height <= KEPT_PIXELS_MAX,
    isGrey: metadata.space === 'b-w',
    frames,
    ...(isAnimated && { delays: metadata.delay! }),
    ...(isAnimated &&
      (metadata.orientation ?? 1) === 1 && { strip: (from, count) => plain({ page: from, pages: count }) }),
    pipeline: () => plain({ page }),
  };
}

/** Of pixels that are kept decoded: 3 bytes each. */
const KEPT_PIXELS_MAX = 16 * 2 ** 20;

/**
 * JPEG and WebP are decoded at a smaller scale where a small picture is wanted. Of other colours than these, some are converted
 * after the scaling.
 */
function decodesWhole(metadata: Metadata): boolean {
  const { format, depth, space, hasProfile, hasAlpha, pages = 1, orientation = 1 } = metadata;
  // What is rotated is rotated after the scaling.
  if (format !== 'png' || depth !== 'uchar' || pages > 1 || orientation !== 1) return false;
  const isPlainGrey = space === 'b-w' && !hasProfile && !hasAlpha;
  return space === 'srgb' || isPlainGrey;
}

/** The same picture, whose pixels are decoded once for any number of scalings, where that is cheaper. @throws file_corrupt */
export async function decodedOnce(source: PictureSource): Promise<PictureSource> {
  if (!source.decodesWhole) return source;
  const pixels = source.isGrey ? source.pipeline().toColourspace('b-w') : source.pipeline();
  const { data, info } = await decoding(() => pixels.raw().toBuffer({ resolveWithObject: true }));
  const { width, height, channels } = info;
  return { ...source, pipeline: () => pipelineOfRaw({ data, width, height, channels: channels as 1 | 3 }) };
}

/** Checks what a picture's header says, and decodes no pixel. @throws file_corrupt, document_too_large. */
export async function checkPicture(
  bytes: Uint8Array,
  mediaType: string,
  limits: ExtractLimits,
): Promise<void> {
  const format = libvipsFormatOf(mediaType);
  if (format) await metadataOf(bytes, format, limits, 0);
  else bmpHeaderOf(bytes, limits);
}

/** Undefined for BMP. */
function libvipsFormatOf(mediaType: string): string | undefined {
  return PICTURE_TYPES.find((type) => type.mediaType === mediaType)?.libvips?.format;
}

async function metadataOf(
  bytes: Uint8Array,
  format: string,
  limits: ExtractLimits,
  page: number,
): Promise<Metadata> {
  const metadata = await decoding(() =>
    sharp(bytes, { failOn: 'error', limitInputPixels: false, page }).metadata(),
  );
  if (metadata.format !== format) throw corrupt(`it is no ${format} picture`);
  checkPixels(metadata.autoOrient.width, metadata.autoOrient.height, limits);
  return metadata;
}

function bmpHeaderOf(bytes: Uint8Array, limits: ExtractLimits): BmpHeader {
  const header = refusingDamage(() => readBmpHeader(bytes));
  checkPixels(header.width, header.height, limits);
  return header;
}

function openBmp(bytes: Uint8Array, limits: ExtractLimits): PictureSource {
  const header = bmpHeaderOf(bytes, limits);
  const picture = refusingDamage(() => decodeBmp(bytes, header));
  const { width, height } = picture;
  return {
    width,
    height,
    decodesWhole: false,
    isGrey: false,
    frames: 1,
    pipeline: () => pipelineOfRaw(picture).flatten({ background: WHITE }),
  };
}

/** Its header was checked. It is decoded once, when its pixels are wanted. */
async function openHeic(
  bytes: Uint8Array,
  size: Pick<PictureSource, 'width' | 'height' | 'frames'>,
  page: number,
): Promise<PictureSource> {
  const libheif = await loadLibheif();
  let decoded: RawPicture | undefined;
  const picture = (): RawPicture => {
    decoded ??= decodeHeic(libheif, bytes, page);
    return decoded;
  };
  return {
    ...size,
    decodesWhole: false,
    isGrey: false,
    pipeline: () => pipelineOfRaw(picture()).flatten({ background: WHITE }),
  };
}

type DecodedPixels = Omit<RawPicture, 'channels'> & { readonly channels: RawPicture['channels'] | 1 };

/** Pixels that are decoded. */
export function pipelineOfRaw({ data, width, height, channels }: DecodedPixels): Sharp {
  return sharp(data, { raw: { width, height, channels }, limitInputPixels: false }).toColourspace('srgb');
}

function checkPixels(width: number, height: number, limits: ExtractLimits): void {
  if (width * height <= limits.pixelsMax) return;
  throw tooLarge(`Send pictures of at most ${limits.pixelsMax} pixels.`, {
    width,
    height,
    pixels: width * height,
    limit_pixels: limits.pixelsMax,
  });
}

/** Runs the decoder. Its own messages go no further: they name memory and files of this process. */
export async function decoding<T>(decode: () => Promise<T>): Promise<T> {
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

function refusingDamage<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError) throw corrupt(error.message);
    throw error;
  }
}
