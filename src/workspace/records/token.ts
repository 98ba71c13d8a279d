import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** Recognisable by scanners for leaked secrets, and by people. */
const PREFIX = 'fws_';
const RANDOM_BYTES = 32;

/** A new capability token: 256 random bits. */
export function newToken(): string {
  return PREFIX + randomBytes(RANDOM_BYTES).toString('base64url');
}

/** What is stored in the token's place: its SHA-256, in hexadecimal. 256 random bits need no slow hash. */
export function hashOfToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** Stands in where there is no hash or no token, so that their absence costs the same time. No token has it. */
const NO_HASH = Buffer.alloc(32);

/**
 * Compares a token with a stored hash in constant time. Without a hash or without a token it does the same work and
 * is false.
 */
export function tokenMatches(token: string | undefined, hash: string | undefined): boolean {
  const sent = createHash('sha256')
    .update(token ?? '')
    .digest();
  const kept = hash === undefined ? NO_HASH : Buffer.from(hash, 'hex');
  const same = timingSafeEqual(sent, kept);
  return same && token !== undefined && hash !== undefined;
}
