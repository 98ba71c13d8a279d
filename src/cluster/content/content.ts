import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FarthingError } from '@farthing/protocol/error';
import { leadsTo } from '@farthing/server/state/book-folders';
import type { SlotStore } from '../log/recorded-store.ts';
import type { Objects } from '../stores/objects/objects.ts';
import { type ClusterKey, type SealKey, seal, unseal } from '../stores/seal.ts';
import { type Blob, Blobs } from './blobs.ts';
import { claimBooks } from './books-with-objects.ts';
import { blobsIn, ContentRows, type IndexWrite, keyOf, tenantOf } from './rows.ts';
import { TenantKeys } from './tenant-keys.ts';

export interface ContentDeps {
  /** Number of slots, of which some may be with other servers. */
  readonly slots: number;
  readonly clusterKeys: readonly [ClusterKey, ...ClusterKey[]];
  readonly objects: Objects;
  readonly log: (event: object) => void;
}

/** The content of all slots. @param stores of the slots, in order */
export function contentOf(stores: readonly SlotStore[], deps: Omit<ContentDeps, 'slots'>): Content {
  const content = new Content({ ...deps, slots: stores.length });
  for (const [slot, store] of stores.entries()) content.add(slot, store);
  return content;
}

/** A position in a Tenant's writes. */
export interface Place {
  readonly id: string;
  readonly seq: number;
}

/** Up to this size a sealed write lies in the slot's log itself. */
const INLINE_BYTES_MAX = 4096;
/** `kept.json`, beside a Tenant's index, records the last applied write. */
export const PLACE_FILE = 'kept.json';

/**
 * Durable part of the Tenants' content: each write to an index and each stored file, sealed under the Tenant's key, in an object or in the
 * slot's log. A write is logged before it is applied to this disk.
 */
export class Content {
  readonly blobs: Blobs;
  readonly #deps: ContentDeps;
  readonly #keys: TenantKeys;
  /** Rows of the slots that this server owns. */
  readonly #rows = new Map<number, ContentRows>();
  /** The last write of each Tenant: they are made in the order of the log. */
  readonly #turns = new Map<string, Promise<unknown>>();
  /** Files that are in the store, by their rows' keys. The rows come with the next writes of their Items: one transaction of the log, not two. */
  readonly #sent = new Map<string, SentFile>();

  constructor(deps: ContentDeps) {
    this.#deps = deps;
    this.#keys = new TenantKeys(deps.clusterKeys);
    this.blobs = new Blobs(deps.objects);
  }

  /** Takes up a slot. */
  add(slot: number, store: SlotStore): void {
    this.#rows.set(slot, new ContentRows(store));
  }

  /** Releases a slot: another server goes on with it. Its indexes must be closed. */
  async leave(slot: number): Promise<void> {
    const isIn = (tenant: string) => leadsTo(tenant, this.#deps.slots) === slot;
    await Promise.allSettled([...this.#turns].flatMap(([tenant, turn]) => (isIn(tenant) ? turn : [])));
    // Another server may give a payer's index another key.
    this.#keys.forgetAll(isIn);
    for (const [key, { done }] of this.#sent)
      if (isIn(tenantOf(key))) {
        done();
        this.#sent.delete(key);
      }
    this.#rows.delete(slot);
  }

  /** @throws interrupted for a Tenant whose slot is with another server */
  rows(tenant: string): ContentRows {
    const rows = this.#rows.get(leadsTo(tenant, this.#deps.slots));
    if (rows) return rows;
    throw new FarthingError('interrupted', 'Another server has this now. Send the same request again.', {
      retryAfterS: 1,
    });
  }

  /** Rows of the slots that this server owns. */
  get allRows(): readonly ContentRows[] {
    return [...this.#rows.values()];
  }

  log(event: object): void {
    this.#deps.log(event);
  }

  key(tenant: string): Promise<SealKey> {
    return this.#keys.of(this.rows(tenant), tenant);
  }

  /** Makes a new Tenant's key and head. */
  async begin(tenant: string): Promise<void> {
    await this.#keys.ensure(this.rows(tenant), tenant);
  }

  /**
   * Logs a write, then applies it.
   * @param replaces whether it replaces all earlier writes of the Item
   * @throws objects_unavailable before anything is logged, and what `make` throws: then the earlier writes are restored
   */
  async write<T>(
    tenant: string,
    folder: string,
    { item, kind, content, replaces }: WriteInput,
    make: () => Promise<T>,
  ): Promise<T> {
    const key = await this.#keys.ensure(this.rows(tenant), tenant);
    const kept = await this.#keep(tenant, key, item, content);
    const write: IndexWrite = { kind, ...kept.stored };
    return this.inTurn(tenant, async () => {
      const rows = this.rows(tenant);
      const change = (before: readonly IndexWrite[]) => withWrite(before, write, replaces);
      const file = this.#takeSent(tenant, item);
      const added = rows.addWrite(tenant, item, { change, bytes: content.length, file: file?.blob });
      const { id, seq, before, formerFile } = await added.finally(() => {
        kept.done();
        file?.done();
      });
      let made: T;
      try {
        made = await make();
      } catch (error) {
        // The index has what it had: so must the log.
        const former: readonly IndexWrite[] = before.length > 0 ? before : [{ kind: 'remove' }];
        await rows.addWrite(tenant, item, { change: () => former, bytes: 0 });
        void this.removeBlobs(tenant, blobsIn([write]));
        throw error;
      }
      await this.setPlace(folder, { id, seq });
      const left = new Set(change(before));
      const outdated = blobsIn(before.filter((one) => !left.has(one)));
      void this.removeBlobs(tenant, formerFile ? [...outdated, formerFile] : outdated);
      return made;
    });
  }

  /** The content of a write. @throws SealBrokenError, objects_unavailable */
  async contentOf(tenant: string, item: string, { inline, blob }: IndexWrite): Promise<Uint8Array> {
    const key = await this.key(tenant);
    if (blob) return this.blobs.get(tenant, key, blob);
    return unseal(key, inlineNameOf(tenant, item), Buffer.from(inline ?? '', 'base64'));
  }

  /** Runs the work after all of the same Tenant that came before. */
  async inTurn<T>(tenant: string, work: () => Promise<T>): Promise<T> {
    const before = this.#turns.get(tenant) ?? Promise.resolve();
    const turn = before.catch(() => undefined).then(work);
    this.#turns.set(tenant, turn);
    try {
      return await turn;
    } finally {
      if (this.#turns.get(tenant) === turn) this.#turns.delete(tenant);
    }
  }

  /** Up to where the index on this disk has followed; undefined when that is not known. */
  async placeOn(folder: string): Promise<Place | undefined> {
    try {
      return JSON.parse(await readFile(join(folder, PLACE_FILE), 'utf8')) as Place;
    } catch {
      return undefined;
    }
  }

  async setPlace(folder: string, { id, seq }: Place): Promise<void> {
    const path = join(folder, PLACE_FILE);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(`${path}.draft`, JSON.stringify({ id, seq }), { mode: 0o600 });
    await rename(`${path}.draft`, path);
  }

  async forgetPlace(folder: string): Promise<void> {
    await rm(join(folder, PLACE_FILE), { force: true });
  }

  /** In the background: what stays is found as abandoned later. */
  async removeBlobs(tenant: string, blobs: readonly Blob[]): Promise<void> {
    for (const blob of blobs)
      await this.blobs
        .remove(tenant, blob)
        .catch((error: unknown) => this.log({ event: 'object_not_removed', error: String(error) }));
  }

  /** Destroys a Tenant's stored content: its objects until none is listed, then its rows and its key. Idempotent. */
  async destroy(tenant: string): Promise<void> {
    const rows = this.rows(tenant);
    if (!rows.keys.get(tenant)) return;
    const objects = await this.blobs.removeAll(tenant, () => rows.confirm(tenant));
    await rows.forget(tenant);
    this.#keys.forget(tenant);
    for (const key of this.#sent.keys()) if (key.startsWith(keyOf(tenant, ''))) this.#sent.delete(key);
    this.log({ event: 'content_destroyed', tenant, objects });
  }

  /** Seals the keys of all slots, or of one, under the cluster key in use. @throws ConfigError when the store was begun without objects */
  async open(slots: Iterable<number> = this.#rows.keys()): Promise<void> {
    for (const slot of slots) {
      const rows = this.#rows.get(slot)!;
      await claimBooks(rows.store);
      const count = await this.#keys.rotate(rows);
      if (count > 0) this.log({ event: 'tenant_keys_sealed_anew', count });
    }
  }

  async #keep(
    tenant: string,
    key: SealKey,
    item: string,
    content: Uint8Array,
  ): Promise<{ readonly stored: Pick<IndexWrite, 'inline' | 'blob'>; readonly done: () => void }> {
    if (content.length > INLINE_BYTES_MAX) {
      const { blob, done } = await this.blobs.put(tenant, key, content);
      return { stored: { blob }, done };
    }
    const sealed = await seal(key, inlineNameOf(tenant, item), content);
    return { stored: { inline: Buffer.from(sealed).toString('base64') }, done: () => undefined };
  }

  /**
   * Uploads a file. It is retained once the next write of its Item is.
   * @param after nothing references the file before it resolves
   * @throws objects_unavailable, and what reading and `after` throw
   */
  async sendFile(
    tenant: string,
    item: string,
    file: Parameters<Blobs['put']>[2],
    after: Promise<unknown>,
  ): Promise<void> {
    const key = await this.#keys.ensure(this.rows(tenant), tenant);
    const { blob, done } = await this.blobs.put(tenant, key, file);
    await after.catch((error: unknown) => {
      done();
      throw error;
    });
    this.#takeSent(tenant, item)?.done();
    this.#sent.set(keyOf(tenant, item), { blob, done });
  }

  /** Keeps a file of an Item that is not written. @throws as `sendFile` */
  async keepFile(tenant: string, item: string, file: Parameters<Blobs['put']>[2]): Promise<void> {
    await this.sendFile(tenant, item, file, Promise.resolve());
    const { blob, done } = this.#takeSent(tenant, item)!;
    const { files } = this.rows(tenant);
    const former = files.get(keyOf(tenant, item));
    await files.put(keyOf(tenant, item), blob).finally(done);
    if (former) void this.removeBlobs(tenant, [former]);
  }

  async removeFile(tenant: string, item: string): Promise<void> {
    const rows = this.rows(tenant);
    const sent = this.#takeSent(tenant, item);
    sent?.done();
    const blob = rows.files.get(keyOf(tenant, item));
    if (blob) await rows.files.remove(keyOf(tenant, item));
    void this.removeBlobs(
      tenant,
      [sent?.blob, blob].flatMap((one) => one ?? []),
    );
  }

  #takeSent(tenant: string, item: string): SentFile | undefined {
    const key = keyOf(tenant, item);
    const sent = this.#sent.get(key);
    this.#sent.delete(key);
    return sent;
  }
}

/** A file whose row is not written. */
interface SentFile {
  readonly blob: Blob;
  /** To be called once the blob is referenced, or never will be. */
  readonly done: () => void;
}

/** The writes that make an Item again, after one more. Names that were added stay when the Item is written anew. */
function withWrite(
  before: readonly IndexWrite[],
  write: IndexWrite,
  replaces: boolean,
): readonly IndexWrite[] {
  if (write.kind === 'alias') return [...before, write];
  if (write.kind === 'remove') return [write];
  const names = before.filter(({ kind }) => kind === 'alias');
  const others = before.filter(({ kind }) => !replaces && kind !== 'alias' && kind !== write.kind);
  return [...others, write, ...names];
}

export interface WriteInput {
  readonly item: string;
  readonly kind: IndexWrite['kind'];
  readonly content: Uint8Array;
  readonly replaces: boolean;
}

function inlineNameOf(tenant: string, item: string): string {
  return `farthing/write/${tenant}/${item}`;
}
