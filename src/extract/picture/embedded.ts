import type { ExtractLimits, PictureContent, PictureSpec } from '../../domain/document.ts';
import type { EmbeddedPicture } from '../office/office-content.ts';
import { pictureTypeOf, readPicture } from './picture.ts';

/** Smaller ones are bullets, logos and rules. */
const SIDE_PIXELS_MIN = 64;

/** Pictures inside a document, each once. One that cannot be decoded is left out: the document is more than its pictures. */
export async function embeddedPictures(
  found: readonly EmbeddedPicture[],
  limits: ExtractLimits,
  spec: PictureSpec | undefined,
): Promise<PictureContent[]> {
  const pictures: PictureContent[] = [];
  const seen = new Set<string>();
  for (const { bytes, page } of found) {
    if (pictures.length >= limits.pagePicturesMax) break;
    const picture = await decoded(bytes, limits, spec);
    if (!picture || Math.min(picture.width, picture.height) < SIDE_PIXELS_MIN) continue;
    const key = `${page} ${Buffer.from(picture.digest).toString('hex')}`;
    if (seen.has(key)) continue;
    seen.add(key);
    pictures.push({ ...picture, ...(page !== undefined && { page }) });
  }
  return pictures;
}

async function decoded(
  bytes: Uint8Array,
  limits: ExtractLimits,
  spec: PictureSpec | undefined,
): Promise<PictureContent | undefined> {
  try {
    const type = await pictureTypeOf(bytes);
    return type && (await readPicture(bytes, type, limits, spec));
  } catch {
    return undefined;
  }
}
