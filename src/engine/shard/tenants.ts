import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { awaitCrossing, native } from '@farthing/native';
import { errorCode, FarthingError } from '@farthing/protocol/error';
import { forgetOldest } from '@farthing/queues/forget-oldest';
import type { SpaceSpec } from '../space.ts';
import { BegunIndexes } from './begun-indexes.ts';
import { finishDisposals, makeFolder, unlinkTenant } from './disposal.ts';
import type { IndexKeeper, RestoredIndex } from './keeper.ts';
import { type Entry, free, giveBack, type Leased } from './open-index.ts';
import { type NativeShard, type Shard, shardOf } from './shard.ts';
import { OpenSpaces } from './spaces.ts';

/** Ids of disposed Tenants that are remembered, so that a late job cannot recreate one. */
const DISPOSED_MAX = 100_000;
/** The folder of an index in its Tenant's. */
export const INDEX = 'shard';
const TENANT_ID = /^[a-z0-9_-]{1,120}$/i;

export interface TenantsOptions {
  /** Has one folder for each Tenant. */
  readonly folder: string | TenantsFolders;
  readonly spaces: readonly SpaceSpec[];
  /** Indexes that are open at once; each costs three file descriptors and 64 GiB of address space. */
  readonly openShardsMax: number;
  /** Overrides of the measured defaults. */
  readonly sizes?: SearchSizes;
  /** Where the indexes survive the loss of this disk; absent: nowhere. */
  readonly keeper?: IndexKeeper;
  /** Told which Tenants are here no longer: one was disposed, or another server owns their folder. */
  readonly onGone?: (isGone: (tenant: string) => boolean) => void;
  /** Called before an index is closed, which waits for it: other threads may read it until then. */
  readonly onClosing?: (tenant: string) => Promise<void>;
  /** Receives events of background work: failed merges. */
  readonly log?: (event: object) => void;
}

/** Several folders that have Tenants' folders. */
export interface TenantsFolders {
  readonly all: readonly string[];
  /** The one that has, or is to have, a Tenant's. */
  of(tenant: string): string;
}

/** Least number of vectors of a space at which bits, or a graph, are built and searched. */
export interface SearchSizes {
  readonly bitsRowsMin?: number;
  readonly graphRowsMin?: number;
}

/** Opens the owner of all Tenants' folders. */
export function openTenants(options: TenantsOptions): Tenants {
  return new Tenants(options);
}

/**
 * Owns every Tenant's folder and every open index. An index opens at its first use and is never opened twice; at the
 * maximum of open indexes, the least recently used idle one closes.
 */
export class Tenants {
  readonly #folders: TenantsFolders;
  readonly #spaces: readonly SpaceSpec[];
  readonly #openShardsMax: number;
  readonly #sizes: SearchSizes;
  readonly #keeper: IndexKeeper | undefined;
  readonly #onGone: NonNullable<TenantsOptions['onGone']>;
  readonly #onClosing: TenantsOptions['onClosing'];
  readonly #log: (event: object) => void;
  /** In order of last use. */
  readonly #entries = new Map<string, Entry>();
  readonly #disposals = new Map<string, Promise<void>>();
  readonly #disposed = new Set<string>();
  readonly #begun = new BegunIndexes();
  /** Tenants whose snapshot is being stored. */
  readonly #snapshots = new Set<string>();
  /** Folders whose store another server owns. */
  readonly #away = new Set<string>();
  #closed = false;

  constructor(options: TenantsOptions) {
    const { folder, spaces, openShardsMax, sizes = {}, keeper, onGone = () => {}, log = () => {} } = options;
    this.#keeper = keeper;
    this.#onGone = (isGone) => {
      this.#begun.forget(isGone);
      onGone(isGone);
    };
    this.#onClosing = options.onClosing;
    this.#log = log;
    this.#folders =
      typeof folder === 'string' ? { all: [resolve(folder)], of: () => resolve(folder) } : folder;
    this.#spaces = spaces;
    this.#openShardsMax = openShardsMax;
    this.#sizes = sizes;
  }

  /** Absolute path of the Tenant's folder, which need not exist. */
  folder(tenant: string): string {
    if (!TENANT_ID.test(tenant)) throw new FarthingError('internal', 'A tenant has an unusable id.');
    return join(this.#folders.of(tenant), tenant);
  }

  /** True when the Tenant has a folder, or a stored index, and is not being disposed. */
  exists(tenant: string): boolean {
    if (this.#closed || this.#isGone(tenant) || this.#isAway(tenant)) return false;
    if (this.#entries.get(tenant)?.opened !== undefined || existsSync(this.folder(tenant))) return true;
    return this.#keeper?.has(tenant) ?? false;
  }

  /**
   * Runs `work` with the Tenant's index kept open. An absent Tenant is created when `create` says so.
   * @throws not_found for an absent or disposed Tenant; overloaded when too many indexes are in use; interrupted once the
   * server stops, so that a closed index is never reported as absent
   */
  async use<T>(
    tenant: string,
    { create = false }: { create?: boolean },
    work: (shard: Shard) => Promise<T> | T,
  ): Promise<T> {
    return this.#run(tenant, await this.#lease(tenant, create), work);
  }

  /** Like `use`; returns undefined for an absent or disposed Tenant. */
  async useIfThere<T>(tenant: string, work: (shard: Shard) => Promise<T> | T): Promise<T | undefined> {
    const entry = await this.#lease(tenant, false).catch((error: unknown) => {
      if (errorCode(error) === 'not_found') return undefined;
      throw error;
    });
    return entry && this.#run(tenant, entry, work);
  }

  /** Decides which spaces the Tenant's index gets for what it holds nothing of: to be awaited before anything is encoded for it. */
  begin(tenant: string, choose: () => Promise<readonly SpaceSpec[]>): Promise<void> {
    return this.#begun.begin(tenant, choose, async (spaces) => {
      const entry = this.#entries.get(tenant);
      if (entry && spaces !== this.#spaces) await this.#closeEntry(tenant, entry);
    });
  }

  /**
   * Has another model fill a space of the Tenant's index, in one commit. Waits until nobody uses the index; who comes meanwhile waits about
   * as long as for one that is opened. Who uses it before sees the old vectors, who comes after it the new ones.
   * @param rows of Segments, row by row; those of Segments that are gone are left out
   * @returns false if a Segment has no row: nothing is changed
   * @throws not_found for an absent or disposed Tenant
   */
  async changeModel(
    tenant: string,
    space: SpaceSpec,
    { segments, values }: { readonly segments: Uint32Array; readonly values: Float32Array },
  ): Promise<boolean> {
    const entry = await this.#lease(tenant, false);
    giveBack(entry);
    if (entry.closing) {
      await entry.closing;
      return this.changeModel(tenant, space, { segments, values });
    }
    const change = async (): Promise<boolean> => {
      const { native: opened } = await this.#openNative(join(this.folder(tenant), INDEX), this.#spaces);
      const { name, dimensions, modelSha256 } = space;
      const changed = awaitCrossing(() =>
        opened.changeModel({ name, dimensions, modelSha256 }, segments, values),
      );
      return changed.finally(() => opened.close());
    };
    let outcome: Promise<boolean> | undefined;
    await this.#closeEntry(tenant, entry, async () => {
      outcome = change();
      // Who waits to open the index does not fail with it.
      await outcome.catch(() => undefined);
    });
    return outcome ?? false;
  }

  async #run<T>(tenant: string, entry: Leased, work: (shard: Shard) => Promise<T> | T): Promise<T> {
    try {
      return await work(entry.opened.shard);
    } finally {
      giveBack(entry);
      this.#used(tenant, entry.opened.native);
    }
  }

  #used(tenant: string, index: NativeShard): void {
    const failure = index.takeMergeFailure();
    if (failure) this.#log({ event: 'merge_failed', tenant, failure });
    if (this.#keeper?.snapshotIsDue(tenant)) void this.#takeSnapshot(tenant, this.#keeper);
  }

  /** Runs beside other uses. If it fails, it is retried after the next use. */
  async #takeSnapshot(tenant: string, keeper: IndexKeeper): Promise<void> {
    if (this.#snapshots.has(tenant) || this.#closed || this.#isGone(tenant)) return;
    this.#snapshots.add(tenant);
    try {
      const entry = await this.#lease(tenant, false);
      try {
        await keeper.takeSnapshot(tenant, this.folder(tenant), entry.opened.shard);
      } finally {
        giveBack(entry);
      }
    } catch (error) {
      this.#log({ event: 'snapshot_failed', tenant, error: String(error) });
    } finally {
      this.#snapshots.delete(tenant);
    }
  }

  /**
   * Refuses new use, waits for running work, closes the index and unlinks the folder durably. A second call while it runs
   * returns the same promise. Afterwards the Tenant is refused, so that a late job cannot recreate it, unless it `mayReturn`.
   * @throws interrupted once the server stops
   */
  dispose(tenant: string, { mayReturn = false }: { mayReturn?: boolean } = {}): Promise<void> {
    const running = this.#disposals.get(tenant);
    if (running) return running;
    if (this.#closed) return Promise.reject(stopping());
    if (this.#isAway(tenant)) return Promise.reject(elsewhere());
    const disposal = this.#dispose(tenant, mayReturn).finally(() => this.#disposals.delete(tenant));
    this.#disposals.set(tenant, disposal);
    return disposal;
  }

  /** Ids of all Tenants with a folder or a stored index, or of those in one of the folders; unordered. */
  async list(within: readonly string[] = this.#folders.all): Promise<string[]> {
    const names = await Promise.all(within.map((folder) => readdir(folder).catch(() => [])));
    const kept = [...(this.#keeper?.tenants() ?? [])].filter((id) => within.includes(this.#folders.of(id)));
    return [...new Set([...names.flat().filter((name) => TENANT_ID.test(name)), ...kept])];
  }

  /**
   * Unlinks what a crash left of disposed Tenants, in all folders or in one. To be awaited before anything else.
   * @returns their ids
   */
  async resumeDisposals(within: readonly string[] = this.#folders.all): Promise<string[]> {
    const ids: string[] = [];
    for (const folder of within) {
      await makeFolder(folder);
      ids.push(...(await finishDisposals(folder)));
    }
    return ids;
  }

  /** Refuses new use, waits for running work, and closes every index. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#disposals.values());
    await this.#closeAll(() => true);
  }

  /** Another server owns the Tenants of a folder: refuses new use, waits for running work, and closes their indexes. */
  async leave(folder: string): Promise<void> {
    this.#away.add(folder);
    const isIn = (tenant: string) => this.#folders.of(tenant) === folder;
    await Promise.allSettled([...this.#disposals].flatMap(([tenant, done]) => (isIn(tenant) ? done : [])));
    await this.#closeAll(isIn);
    this.#onGone(isIn);
    // A payer's id may return, and a restored index is another one.
    for (const tenant of this.#disposed) if (isIn(tenant)) this.#disposed.delete(tenant);
  }

  /** Opens the index in a folder, which no Tenant here uses: a copy of another server's. */
  async openApart(folder: string, spaces: readonly SpaceSpec[]): Promise<RestoredIndex> {
    const { native: opened, shard } = await this.#openNative(folder, spaces);
    return { shard, close: () => opened.close() };
  }

  /** The Tenants of a folder are with this server again. */
  enter(folder: string): void {
    this.#away.delete(folder);
  }

  async #closeAll(isMeant: (tenant: string) => boolean): Promise<void> {
    await Promise.all(
      [...this.#entries].map(async ([tenant, entry]) => {
        if (isMeant(tenant)) await this.#closeEntry(tenant, entry);
      }),
    );
  }

  /** Closes indexes that were idle for at least `idleMs`, and frees their memory and files. */
  async closeIdle(idleMs: number): Promise<void> {
    const before = performance.now() - idleMs;
    const idle = [...this.#entries].filter(
      ([, { leases, usedAt, opened }]) => opened !== undefined && leases === 0 && usedAt <= before,
    );
    await Promise.all(idle.map(([tenant, entry]) => this.#closeEntry(tenant, entry)));
  }

  /** An index that is open now. It stays so until `onClosing` has been called and resolved. */
  opened(tenant: string): Leased['opened'] | undefined {
    const entry = this.#entries.get(tenant);
    return this.#closed || this.#isGone(tenant) || entry?.closing ? undefined : entry?.opened;
  }

  /** An index that is open now, as one use of it. It may close once this turn of the event loop has ended. */
  useNow(tenant: string): Shard | undefined {
    const opened = this.#isAway(tenant) ? undefined : this.opened(tenant);
    if (!opened) return undefined;
    this.touch(tenant);
    this.#used(tenant, opened.native);
    return opened.shard;
  }

  /** Other threads have used an index: it is closed later. */
  touch(tenant: string): void {
    const entry = this.#entries.get(tenant);
    if (!entry || entry.closing) return;
    entry.usedAt = performance.now();
    this.#entries.delete(tenant);
    this.#entries.set(tenant, entry);
  }

  /** Number of open indexes. */
  get openCount(): number {
    return this.#entries.size;
  }

  #isAway(tenant: string): boolean {
    return this.#away.size > 0 && this.#away.has(this.#folders.of(tenant));
  }

  #isGone(tenant: string): boolean {
    return this.#disposals.has(tenant) || this.#disposed.has(tenant);
  }

  #notFound(): FarthingError {
    return new FarthingError('not_found', 'Nothing is stored here.');
  }

  /** The Tenant's entry with one more lease. No turn of the event loop passes between the check and the lease. */
  async #lease(tenant: string, create: boolean): Promise<Leased> {
    for (;;) {
      if (this.#closed) throw stopping();
      if (this.#isAway(tenant)) throw elsewhere();
      if (this.#isGone(tenant)) throw this.#notFound();
      const entry = this.#entries.get(tenant);
      if (entry?.closing) {
        await entry.closing;
        continue;
      }
      if (!entry && this.#entries.size >= this.#openShardsMax) {
        await this.#closeIdlest();
        continue;
      }
      const usable = entry ?? this.#open(tenant, create);
      usable.leases += 1;
      // Last in the map: last to be closed.
      this.#entries.delete(tenant);
      this.#entries.set(tenant, usable);
      try {
        usable.opened ??= await usable.opening;
        return usable as Leased;
      } catch (error) {
        giveBack(usable);
        throw error;
      }
    }
  }

  #open(tenant: string, create: boolean): Entry {
    const folder = join(this.folder(tenant), INDEX);
    const isThere = this.#keeper ? this.#keeper.has(tenant) : existsSync(join(folder, 'data.mdb'));
    if (!create && !isThere) throw this.#notFound();
    const opening = this.#openIndex(tenant, folder);
    const entry: Entry = { opening, leases: 0, usedAt: performance.now() };
    // Only this use fails; the next one opens it again.
    opening.catch(() => {
      if (this.#entries.get(tenant) === entry) this.#entries.delete(tenant);
    });
    return entry;
  }

  async #openIndex(tenant: string, folder: string): Promise<{ native: NativeShard; shard: Shard }> {
    const keeper = this.#keeper;
    const spaces = this.#begun.spacesOf(tenant) ?? this.#spaces;
    if (!keeper) return this.#openNative(folder, spaces);
    const home = this.folder(tenant);
    await keeper.restore(tenant, home, (written) => this.openApart(folder, written));
    const opened = await this.#openNative(folder, spaces);
    return { ...opened, shard: keeper.kept(tenant, home, opened.shard) };
  }

  async #openNative(
    folder: string,
    specs: readonly SpaceSpec[],
  ): Promise<{ native: NativeShard; shard: Shard }> {
    await makeFolder(folder);
    const spaces = specs.map(({ name, dimensions, modelSha256 }) => ({ name, dimensions, modelSha256 }));
    const opened = await awaitCrossing(() => native.openShard(folder, spaces, { ...this.#sizes }));
    return { native: opened, shard: shardOf(opened, new OpenSpaces(opened)) };
  }

  async #closeIdlest(): Promise<void> {
    for (const [tenant, entry] of this.#entries) {
      if (entry.closing) return entry.closing;
      if (entry.leases === 0) return this.#closeEntry(tenant, entry);
    }
    throw new FarthingError('overloaded', 'Too many indexes are in use. Try again.', { retryAfterS: 1 });
  }

  /**
   * Closes an index once no lease is left; there are no new ones.
   * @param then what is done before it may be opened again
   */
  #closeEntry(tenant: string, entry: Entry, then?: () => Promise<void>): Promise<void> {
    entry.closing ??= this.#closeNative(tenant, entry)
      .then(then)
      .finally(() => {
        if (this.#entries.get(tenant) === entry) this.#entries.delete(tenant);
      });
    return entry.closing;
  }

  async #closeNative(tenant: string, entry: Entry): Promise<void> {
    await Promise.all([this.#onClosing?.(tenant), free(entry)]);
    const opened = await entry.opening.catch(() => undefined);
    await opened?.native.close();
  }

  async #dispose(tenant: string, mayReturn: boolean): Promise<void> {
    // The caller enters this promise into `#disposals` in the same turn: from then on there are no new leases.
    await Promise.resolve();
    const entry = this.#entries.get(tenant);
    if (entry) await this.#closeEntry(tenant, entry);
    await unlinkTenant(this.#folders.of(tenant), tenant);
    await this.#keeper?.destroy(tenant);
    this.#onGone((other) => other === tenant);
    if (!mayReturn) this.#remember(tenant);
  }

  #remember(tenant: string): void {
    this.#disposed.add(tenant);
    forgetOldest(this.#disposed, DISPOSED_MAX);
  }
}

function stopping(): FarthingError {
  return new FarthingError('interrupted', 'The server is stopping.', { retryAfterS: 5 });
}

function elsewhere(): FarthingError {
  return new FarthingError('interrupted', 'Another server has this now. Send the same request again.', {
    retryAfterS: 1,
  });
}
