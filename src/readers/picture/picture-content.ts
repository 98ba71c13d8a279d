import { createHash } from 'node:crypto';
import { native } from '@farthing/native';
import type { ExtractLimits, PictureContent, PictureSpec } from '@farthing/protocol/document';
import type { RawPicture } from './bmp.ts';
import {
  decodedOnce,
  decoding,
  openSource,
  type PictureSource,
  pipelineOfRaw,
  WHITE,
} from './picture-source.ts';

/** Side of the grey picture that the fingerprint is made from. */
const GREY_SIDE_PIXELS = 64;

/** The picture, or its first frame or page, for models and fingerprints. @throws file_corrupt, document_too_large. */
export async function readPicture(
  bytes: Uint8Array,
  mediaType: string,
  limits: ExtractLimits,
  spec: PictureSpec | undefined,
): Promise<PictureContent> {
  const source = await decodedOnce(await openSource(bytes, mediaType, limits));
  return contentOf(source, spec, { digest: createHash('sha256').update(bytes).digest() });
}

/** The content of pixels that another reader has decoded. A fourth channel is ignored. */
export function fromRaw(
  picture: RawPicture,
  spec: PictureSpec | undefined,
  place: Omit<PictureContent, 'pixels' | 'fingerprint' | 'width' | 'height'>,
): Promise<PictureContent> {
  const { width, height } = picture;
  return contentOf({ width, height, pipeline: () => pipelineOfRaw(picture).removeAlpha() }, spec, place);
}

export async function contentOf(
  source: Pick<PictureSource, 'width' | 'height' | 'pipeline'>,
  spec: PictureSpec | undefined,
  place: Omit<PictureContent, 'pixels' | 'fingerprint' | 'width' | 'height'>,
): Promise<PictureContent> {
  const [content] = await contentsOf(source, 1, spec);
  return { ...content!, ...place };
}

/** @param source a strip of `count` pictures of this size, one below the other */
export async function contentsOf(
  { width, height, pipeline }: Pick<PictureSource, 'width' | 'height' | 'pipeline'>,
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
  return greys.map((pixels, index) => ({
    pixels: { rgb: colours[index]! },
    fingerprint: native.pictureFingerprint(pixels, GREY_SIDE_PIXELS, GREY_SIDE_PIXELS),
    width,
    height,
  }));
}

function partsOf(bytes: Uint8Array, count: number, length: number): Uint8Array[] {
  if (bytes.length !== count * length) throw new RangeError(`${count} pictures of ${bytes.length} bytes`);
  return Array.from({ length: count }, (_, index) => bytes.subarray(index * length, (index + 1) * length));
}
