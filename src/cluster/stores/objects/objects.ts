import { FarthingError } from '@farthing/protocol/error';

/**
 * Bytes by name, where the loss of this machine cannot take them. A name is written once. What was put, listed or removed is seen so by
 * every later call. @throws objects_unavailable from each method, after a bounded time
 */
export interface Objects {
  /** Durable once it resolves. @param bytes at most some MiB, never changed afterwards */
  put(name: string, bytes: Uint8Array): Promise<void>;
  /** Undefined for a name without an object. */
  get(name: string): Promise<Uint8Array | undefined>;
  /** Names that begin with a prefix, all of them, in any order. */
  list(prefix: string): Promise<string[]>;
  /** Does nothing where there is none. */
  remove(name: string): Promise<void>;
  /** Whether objects can be written and removed for good here. @throws UnsuitableStoreError that says why not */
  check(): Promise<void>;
}

/** The store must not hold this server's objects; the message says why, and what to do. */
export class UnsuitableStoreError extends Error {}

/** The same objects, for one who must change none. */
export function readOnly(objects: Objects): Objects {
  const refuse = () => Promise.reject(new Error('these objects are only read'));
  return {
    get: (name) => objects.get(name),
    list: (prefix) => objects.list(prefix),
    put: refuse,
    remove: refuse,
    check: refuse,
  };
}

/** The store did not do what was asked, however often; nothing of it went to the client. */
export function objectsUnavailable(cause: unknown): FarthingError {
  return new FarthingError(
    'objects_unavailable',
    'The store of files and indexes cannot be reached. Try again later.',
    { retryAfterS: 5, cause },
  );
}

const PROBE = 'probe/';

/** Writes, reads, lists and removes an object. @param random part of its name @throws UnsuitableStoreError, and what the store throws */
export async function probe(objects: Omit<Objects, 'check'>, random: string): Promise<void> {
  const name = PROBE + random;
  const bytes = Buffer.from(random);
  await objects.put(name, bytes);
  const found = await objects.get(name);
  if (!found || Buffer.compare(found, bytes) !== 0)
    throw new UnsuitableStoreError('what is written cannot be read again');
  if (!(await objects.list(PROBE)).includes(name))
    throw new UnsuitableStoreError('what is written is not listed');
  await objects.remove(name);
  if ((await objects.get(name)) !== undefined || (await objects.list(PROBE)).includes(name))
    throw new UnsuitableStoreError('what is removed is still there');
}
