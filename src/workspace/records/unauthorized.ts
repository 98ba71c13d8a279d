import { FarthingError } from '../../domain/error.ts';

/** The one refusal for an unknown workspace and for a wrong, missing, malformed, expired or foreign token. */
export function unauthorized(): FarthingError {
  return new FarthingError(
    'workspace_unauthorized',
    'Send the capability token of this workspace as "Authorization: Bearer fws_…". A workspace that has ended opens no more.',
  );
}
