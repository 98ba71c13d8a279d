import type { ExtractLimits, PictureContent, PictureSpec } from '@farthing/protocol/document';
import type { Sink } from '../reading/sink.ts';
import { pictureTypeOf } from './picture.ts';
import { readPicture } from './picture-content.ts';

export interface EmbeddedPicture {
  readonly bytes: Uint8Array;
  readonly page?: number;
}

/** Smaller pictures are bullets, logos and rules. */
const SIDE_PIXELS_MIN = 64;

/** The contents of pictures inside a document, without repetitions. Pictures that cannot be decoded are left out; `report` gets those beyond the limit. */
export async function embeddedPictures(
  found: readonly EmbeddedPicture[],
  limits: ExtractLimits,
  spec: PictureSpec | undefined,
  report: Sink['notRead'],
): Promise<PictureContent[]> {
  const pictures: PictureContent[] = [];
  const seen = new Set<string>();
  for (const [index, { bytes, page }] of found.entries()) {
    if (pictures.length >= limits.pagePicturesMax) {
      report('pictures', 'limit', found.length - index);
      break;
    }
    const picture = await decode(bytes, limits, spec);
    if (!picture || Math.min(picture.width, picture.height) < SIDE_PIXELS_MIN) continue;
    const key = `${page} ${Buffer.from(picture.digest).toString('hex')}`;
    if (seen.has(key)) continue;
    seen.add(key);
    pictures.push({ ...picture, ...(page !== undefined && { page }) });
  }
  return pictures;
}

async function decode(
  bytes: Uint8Array,
  limits: ExtractLimits,
  spec: PictureSpec | undefined,
): Promise<PictureContent | undefined> {
  try {
    const type = await pictureTypeOf(bytes);
    return type === undefined ? undefined : await readPicture(bytes, type, limits, spec);
  } catch {
    return undefined;
  }
}
