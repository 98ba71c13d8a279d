import type { Sharp } from 'sharp';
import type { ExtractLimits } from '../../domain/document.ts';
import type { RawPicture } from './bmp.ts';
import { decoding, openSource, type PictureSource, pipelineOfRaw } from './picture-source.ts';

/** One byte a pixel, row by row. */
export interface GreyPicture {
  readonly grey: Uint8Array;
  readonly width: number;
  readonly height: number;
}

/** One page or frame (from 1), scaled down to at most `sideMax` pixels a side. @throws file_corrupt, document_too_large. */
export async function greyOfPicture(
  bytes: Uint8Array,
  mediaType: string,
  page: number,
  sideMax: number,
  limits: ExtractLimits,
): Promise<GreyPicture> {
  return greyOfSource(await openSource(bytes, mediaType, limits, page - 1), sideMax);
}

/** The same of a source that is open. */
export function greyOfSource(source: PictureSource, sideMax: number): Promise<GreyPicture> {
  return toGrey(source.pipeline(), sideMax);
}

/** The same from pixels that another reader has decoded. A fourth channel is ignored. */
export function greyOfRaw(picture: RawPicture, sideMax: number): Promise<GreyPicture> {
  return toGrey(pipelineOfRaw(picture).removeAlpha(), sideMax);
}

async function toGrey(pipeline: Sharp, sideMax: number): Promise<GreyPicture> {
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
