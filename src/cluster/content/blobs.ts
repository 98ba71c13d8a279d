import { randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Objects } from '../stores/objects/objects.ts';
import { SealBrokenError, type SealKey, seal, unseal } from '../stores/seal.ts';

/** Bytes of any length of a Tenant, as sealed objects of some MiB each. */
export interface Blob {
  readonly id: string;
  readonly bytes: number;
}

const CHUNK_BYTES = 4 * 2 ** 20;
/** Chunks of one blob in memory at a time. */
const CHUNKS_AT_ONCE = 4;
const ID_BYTES = 16;

/** Prefix of the names of all objects of a Tenant. */
export function prefixOf(tenant: string): string {
  return `t/${tenant}/`;
}

/** The blobs of all Tenants. Names never come twice, so that nothing is ever overwritten. */
export class Blobs {
  readonly #objects: Objects;
  /** Ids of blobs that are being written: no row leads to them yet. */
  readonly #beingWritten = new Set<string>();

  constructor(objects: Objects) {
    this.#objects = objects;
  }

  /**
   * Durable once it resolves. Until `done` is called nothing counts it as abandoned.
   * @throws objects_unavailable; what was written by then is removed by `removeAbandoned`
   */
  async put(
    tenant: string,
    key: SealKey,
    source: Uint8Array | FileHandle,
  ): Promise<{ readonly blob: Blob; readonly done: () => void }> {
    const bytes = source instanceof Uint8Array ? source.length : (await source.stat()).size;
    const blob = { id: randomBytes(ID_BYTES).toString('hex'), bytes };
    this.#beingWritten.add(blob.id);
    const done = () => void this.#beingWritten.delete(blob.id);
    try {
      await inChunks(bytes, async (chunk, from, length) => {
        const plain =
          source instanceof Uint8Array
            ? source.subarray(from, from + length)
            : await readAll(source, from, length);
        await this.#objects.put(
          nameOf(tenant, blob, chunk),
          await seal(key, sealedNameOf(tenant, blob, chunk), plain),
        );
      });
    } catch (error) {
      done();
      throw error;
    }
    return { blob, done };
  }

  /** @throws SealBrokenError for one that is damaged or missing; objects_unavailable */
  async get(tenant: string, key: SealKey, blob: Blob): Promise<Uint8Array> {
    const whole = Buffer.alloc(blob.bytes);
    await inChunks(blob.bytes, async (chunk, from, length) => {
      whole.set(await this.#chunk(tenant, key, blob, chunk, length), from);
    });
    return whole;
  }

  /** Writes a blob to a path, where it appears whole and on the disk. @throws as `get` */
  async getFile(tenant: string, key: SealKey, blob: Blob, path: string): Promise<void> {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const draft = `${path}.draft`;
    const file = await open(draft, 'w', 0o600);
    try {
      await inChunks(blob.bytes, async (chunk, from, length) => {
        const plain = await this.#chunk(tenant, key, blob, chunk, length);
        await file.write(plain, 0, plain.length, from);
      });
      await file.sync();
      await file.close();
      await rename(draft, path);
    } catch (error) {
      await file.close().catch(() => undefined);
      await rm(draft, { force: true });
      throw error;
    }
  }

  async remove(tenant: string, blob: Blob): Promise<void> {
    await inChunks(blob.bytes, (chunk) => this.#objects.remove(nameOf(tenant, blob, chunk)));
  }

  /**
   * Removes a Tenant's unreferenced objects: left by an interrupted write, or outdated.
   * @param confirm resolves if this process still owns the slot: objects listed before that are not another server's
   * @returns how many
   */
  async removeAbandoned(
    tenant: string,
    needed: () => readonly Blob[],
    confirm: () => Promise<void>,
  ): Promise<number> {
    const names = await this.#objects.list(prefixOf(tenant));
    // After the listing: blobs written in between are not in it.
    const kept = new Set([...needed().map(({ id }) => id), ...this.#beingWritten]);
    const abandoned = names.filter((name) => !kept.has(name.slice(prefixOf(tenant).length).split('.')[0]!));
    if (abandoned.length > 0) await confirm();
    await each(abandoned, (name) => this.#objects.remove(name));
    return abandoned.length;
  }

  /** Removes all objects of a Tenant, until none is listed. @param confirm as for `removeAbandoned` @returns how many there were */
  async removeAll(tenant: string, confirm: () => Promise<void>): Promise<number> {
    let count = 0;
    for (;;) {
      const names = await this.#objects.list(prefixOf(tenant));
      if (names.length === 0) return count;
      await confirm();
      await each(names, (name) => this.#objects.remove(name));
      count += names.length;
    }
  }

  async #chunk(tenant: string, key: SealKey, blob: Blob, chunk: number, length: number): Promise<Uint8Array> {
    const name = nameOf(tenant, blob, chunk);
    const sealed = await this.#objects.get(name);
    if (!sealed) throw new SealBrokenError(`${name} is missing`);
    const plain = await unseal(key, sealedNameOf(tenant, blob, chunk), sealed);
    if (plain.length !== length) throw new SealBrokenError(`${name} has another length`);
    return plain;
  }
}

function nameOf(tenant: string, { id }: Blob, chunk: number): string {
  return `${prefixOf(tenant)}${id}.${chunk}`;
}

/** Name under which a chunk is sealed. It includes the blob's length, so a missing last chunk is detected. */
function sealedNameOf(tenant: string, blob: Blob, chunk: number): string {
  return `farthing/${nameOf(tenant, blob, chunk)}/${blob.bytes}`;
}

async function inChunks(
  bytes: number,
  work: (chunk: number, from: number, length: number) => Promise<void>,
): Promise<void> {
  const chunks = Array.from({ length: Math.max(1, Math.ceil(bytes / CHUNK_BYTES)) }, (_, chunk) => chunk);
  await each(
    chunks,
    (chunk) => work(chunk, chunk * CHUNK_BYTES, Math.min(CHUNK_BYTES, bytes - chunk * CHUNK_BYTES)),
    CHUNKS_AT_ONCE,
  );
}

/** Some at once; nothing is begun after a failure, and nothing still runs when it is thrown. */
async function each<T>(all: readonly T[], work: (one: T) => Promise<void>, atOnce = 16): Promise<void> {
  const left = all.values();
  let failed = false;
  const next = async () => {
    for (const one of left) {
      if (failed) return;
      await work(one).catch((error: unknown) => {
        failed = true;
        throw error;
      });
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: Math.min(atOnce, all.length) }, next));
  const failure = ended.find((end) => end.status === 'rejected');
  if (failure) throw failure.reason;
}

async function readAll(file: FileHandle, from: number, length: number): Promise<Uint8Array> {
  const bytes = Buffer.alloc(length);
  for (let done = 0; done < length; ) {
    const { bytesRead } = await file.read(bytes, done, length - done, from + done);
    if (bytesRead === 0) throw new Error('the file is shorter than it was');
    done += bytesRead;
  }
  return bytes;
}
