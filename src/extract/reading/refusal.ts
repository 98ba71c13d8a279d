import { FarthingError } from '../../domain/error.ts';
import { READABLE_NAMES, READABLE_TYPES } from '../formats.ts';

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
