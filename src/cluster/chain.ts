import { createHash } from 'node:crypto';

/** A place in a log: how many entries come until then, and the hash of the last. */
export interface Position {
  readonly number: number;
  /** SHA-256, hexadecimal. */
  readonly hash: string;
}

/** Before the first entry. */
export const ORIGIN: Position = { number: 0, hash: '0'.repeat(64) };

const HASH_BYTES = 32;

/** An entry is not what the one before it promises. */
export class LogDamagedError extends Error {}

/** The next entry: the hash of the one before, then what it holds. */
export function linked(before: Position, payload: Uint8Array): { position: Position; bytes: Buffer } {
  const bytes = Buffer.concat([Buffer.from(before.hash, 'hex'), payload]);
  return { bytes, position: { number: before.number + 1, hash: hashOf(bytes) } };
}

/** What an entry holds, and the place behind it. @param where named in errors @throws LogDamagedError */
export function unlinked(
  before: Position,
  bytes: Uint8Array,
  where: string,
): { position: Position; payload: Buffer } {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (buffer.subarray(0, HASH_BYTES).toString('hex') !== before.hash)
    throw new LogDamagedError(
      `${where} does not follow entry ${before.number}: the log is damaged or forked`,
    );
  return {
    payload: buffer.subarray(HASH_BYTES),
    position: { number: before.number + 1, hash: hashOf(buffer) },
  };
}

export function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
