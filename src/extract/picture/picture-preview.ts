import { FarthingError } from '../../domain/error.ts';
import type { Preview } from '../../domain/preview.ts';
import { renderPdfPage } from '../pdf/pdf.ts';
import type { Reading } from '../read.ts';
import { type PictureType, shrinkPicture, shrinkRaw } from './picture.ts';

/** Longer side of a picture's preview, in pixels: a card on a screen of double density. */
export const PICTURE_SIDE_PIXELS = 720;
/** Longer side of a page's: its text can be read. */
const PAGE_SIDE_PIXELS = 1200;

/** A small picture of a file or of one of its pages, in the child process. @throws preview_unavailable, field_invalid for an unknown page, and as openFile. */
export async function renderPreview(
  bytes: Uint8Array,
  { mediaType, page, timeS }: { mediaType: string; page: number; timeS?: number },
  { pdfium, limits }: Reading,
): Promise<Preview> {
  if (mediaType === 'application/pdf') {
    const rendered = renderPdfPage(pdfium, bytes, limits, { page, longSide: PAGE_SIDE_PIXELS });
    return shrinkRaw({ ...rendered, channels: 4 }, PAGE_SIDE_PIXELS);
  }
  if (mediaType.startsWith('image/'))
    return shrinkPicture(bytes, mediaType as PictureType, limits, {
      page,
      timeS,
      longSide: PICTURE_SIDE_PIXELS,
    });
  throw new FarthingError('preview_unavailable', `There is no picture of a file of type ${mediaType}.`);
}
