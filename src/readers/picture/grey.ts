import type { Sharp } from 'sharp';
import type { RawPicture } from './bmp.ts';
import { decoding, type PictureSource, pipelineOfRaw } from './picture-source.ts';

/** One byte a pixel, row by row. */
export interface GreyPicture {
  readonly grey: Uint8Array;
  readonly width: number;
  readonly height: number;
}

/** A page or frame, scaled down to at most `sideMax` pixels a side. @throws file_corrupt */
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
