import { hash as digestOf, randomBytes, timingSafeEqual } from 'node:crypto';
import { FarthingError } from '@farthing/protocol/error';

/** Recognisable to people and to scanners for leaked secrets. */
const PREFIX = 'fws_';
const RANDOM_BYTES = 32;

/** A new capability token: 256 random bits. */
export function newToken(): string {
  return PREFIX + randomBytes(RANDOM_BYTES).toString('base64url');
}

/** SHA-256 of a token, in hexadecimal: what is stored instead of it. 256 random bits need no slow hash. */
export function hashOfToken(token: string): string {
  return digestOf('sha256', token, 'hex');
}

/** Stands in for a missing hash, so that its absence takes the same time. No token has this hash. */
const NO_HASH = Buffer.alloc(32);

/**
 * Compares a token with a stored hash in constant time. Without a token or a hash it does the same work and returns
 * false.
 */
export function tokenMatches(token: string | undefined, hash: string | undefined): boolean {
  return tokenHasDigest(token, hash === undefined ? undefined : Buffer.from(hash, 'hex'));
}

/** The same with the hash as bytes. */
export function tokenHasDigest(token: string | undefined, digest: Uint8Array | undefined): boolean {
  const sent = digestOf('sha256', token ?? '', 'buffer');
  const isSame = timingSafeEqual(sent, digest ?? NO_HASH);
  return isSame && token !== undefined && digest !== undefined;
}

/** The one refusal for an unknown workspace and for a missing, malformed, wrong, foreign or expired token. */
export function unauthorized(): FarthingError {
  return new FarthingError(
    'workspace_unauthorized',
    'Send the capability token of this workspace as "Authorization: Bearer fws_…". A workspace that has ended opens no more.',
  );
}
