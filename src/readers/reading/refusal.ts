import type { ExtractLimits } from '@farthing/protocol/document';
import { FarthingError } from '@farthing/protocol/error';

/** @param what the damage, as the rest of "The file is damaged: …" */
export function corrupt(what: string): FarthingError {
  return new FarthingError('file_corrupt', `The file is damaged: ${what}. Send it again, whole.`);
}

/** @param what the kind of file, in words */
export function encrypted(what: string): FarthingError {
  return new FarthingError(
    'file_encrypted',
    `The ${what} has a password. Remove the password and send it again.`,
  );
}

/** @param what the limit that the file exceeds, and what to send instead */
export function tooLarge(what: string, facts: Readonly<Record<string, number>>): FarthingError {
  return new FarthingError('document_too_large', what, { facts });
}

export function tooManyCharacters({ charactersMax }: ExtractLimits): FarthingError {
  return tooLarge(`Send documents of at most ${charactersMax} characters of text.`, {
    limit_characters: charactersMax,
  });
}

export function unknownPage(page: number, pages: number): FarthingError {
  return new FarthingError('field_invalid', `page: ${page} is not among the document’s ${pages} pages.`, {
    facts: { field: 'page', pages },
  });
}
