import { READABLE_TYPES } from '../domain/document.ts';
import { FarthingError } from '../domain/error.ts';

/** What can be read, for people. */
const READABLE_NAMES =
  'plain text, Markdown, HTML, CSV, XML, RTF, PDF, DOCX, PPTX, XLSX, ODT, ODP, ODS, EPUB, EML, JPEG, PNG, WebP, GIF, TIFF, AVIF, SVG, uncompressed BMP, MP4, MOV, WebM, MKV, AVI, WAV, MP3, FLAC, OGG, Opus, M4A, or a zip, tar or tar.gz of such files';

export function unsupported(mediaType: string | undefined): FarthingError {
  const what =
    mediaType === undefined ? 'The file is of no type that is known here' : `${mediaType} cannot be read`;
  const why = /^image\/hei[cf]/.test(mediaType ?? '')
    ? ': its HEVC has no decoder here; convert it to JPEG or AVIF'
    : '';
  return new FarthingError('media_type_unsupported', `${what}${why}. Send ${READABLE_NAMES}.`, {
    facts: { ...(mediaType && { media_type: mediaType }), readable: [...READABLE_TYPES] },
  });
}

export function corrupt(what: string): FarthingError {
  return new FarthingError('file_corrupt', `The file is damaged: ${what}. Send it again, whole.`);
}

export function tooLarge(what: string, facts: Readonly<Record<string, number>>): FarthingError {
  return new FarthingError('document_too_large', what, { facts });
}

export function unknownPage(page: number, pages: number): FarthingError {
  return new FarthingError('field_invalid', `page: ${page} is not among the document’s ${pages} pages.`, {
    facts: { field: 'page', pages },
  });
}
