import type { ExtractLimits } from '@farthing/protocol/document';
import type { Preview } from '@farthing/protocol/file/preview';
import type { Sharp } from 'sharp';
import type { PreviewPlace } from '../reading/format-reader.ts';
import type { RawPicture } from './bmp.ts';
import { decoding, openSource, pipelineOfRaw } from './picture-source.ts';

/** Longer side of a preview, in pixels: a card on a screen of double density. */
export const PREVIEW_SIDE_PIXELS = 720;
/** libwebp's scales: the quality that its manual suggests for photographs, and little effort because a user waits. */
const QUALITY = 78;
const EFFORT = 2;

/** A page of the picture, or its frame at a moment, as WebP, scaled down to PREVIEW_SIDE_PIXELS. @throws file_corrupt, document_too_large. */
export async function previewOfPicture(
  bytes: Uint8Array,
  mediaType: string,
  { page, timeS = 0 }: PreviewPlace,
  limits: ExtractLimits,
): Promise<Preview> {
  const first = await openSource(bytes, mediaType, limits);
  const frame = first.delays ? frameAt(first.delays, timeS) : page - 1;
  const source = frame === 0 ? first : await openSource(bytes, mediaType, limits, frame);
  return decoding(() => toWebp(source.pipeline(), PREVIEW_SIDE_PIXELS));
}

/** The same from pixels that another reader has decoded. A fourth channel is ignored. */
export function previewOfRaw(picture: RawPicture, longSide = PREVIEW_SIDE_PIXELS): Promise<Preview> {
  return toWebp(pipelineOfRaw(picture).removeAlpha(), longSide);
}

/** The frame that is shown at this second; after the end, the last one. */
function frameAt(delays: readonly number[], timeS: number): number {
  let end = 0;
  const frame = delays.findIndex((delay) => {
    end += delay;
    return end > timeS * 1000;
  });
  return frame < 0 ? delays.length - 1 : frame;
}

async function toWebp(pipeline: Sharp, longSide: number): Promise<Preview> {
  const { data, info } = await pipeline
    .resize(longSide, longSide, { fit: 'inside', withoutEnlargement: true })
    .webp({ quality: QUALITY, effort: EFFORT })
    .toBuffer({ resolveWithObject: true });
  return { bytes: data, width: info.width, height: info.height };
}
