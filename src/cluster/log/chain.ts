import { createHash } from 'node:crypto';

/** A position in a log: the number of entries before it, and the hash of the last. */
export interface Position {
  readonly number: number;
  /** SHA-256, hexadecimal. */
  readonly hash: string;
}

/** Before the first entry. */
export const ORIGIN: Position = { number: 0, hash: '0'.repeat(64) };

const HASH_BYTES = 32;

/** An entry does not follow the one before it, or does not match its own hash. */
export class LogDamagedError extends Error {}

/** The next entry: the hash of the one before, its own, then its payload. Its own hash covers the one before and the payload. */
export function linked(before: Position, payload: Uint8Array): { position: Position; bytes: Buffer } {
  const former = Buffer.from(before.hash, 'hex');
  const hash = digestOf(former, payload);
  const position = { number: before.number + 1, hash: hash.toString('hex') };
  return { bytes: Buffer.concat([former, hash, payload]), position };
}

/** The payload of an entry, and the position after it. @param where named in errors @throws LogDamagedError */
export function unlinked(
  before: Position,
  bytes: Uint8Array,
  where: string,
): { position: Position; payload: Buffer } {
  const { former, hash, payload } = entryIn(bytes, where);
  if (former.toString('hex') !== before.hash)
    throw new LogDamagedError(
      `${where} does not follow entry ${before.number}: the log is damaged or forked`,
    );
  return { payload, position: { number: before.number + 1, hash: hash.toString('hex') } };
}

/** The hash of an entry. @param where named in errors @throws LogDamagedError when it is not of what the entry holds */
export function hashOfEntry(bytes: Uint8Array, where: string): string {
  return entryIn(bytes, where).hash.toString('hex');
}

export function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function entryIn(bytes: Uint8Array, where: string): { former: Buffer; hash: Buffer; payload: Buffer } {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const former = buffer.subarray(0, HASH_BYTES);
  const hash = buffer.subarray(HASH_BYTES, 2 * HASH_BYTES);
  const payload = buffer.subarray(2 * HASH_BYTES);
  if (!digestOf(former, payload).equals(hash))
    throw new LogDamagedError(`${where} is not what was written: the log is damaged`);
  return { former, hash, payload };
}

function digestOf(former: Uint8Array, payload: Uint8Array): Buffer {
  return createHash('sha256').update(former).update(payload).digest();
}
