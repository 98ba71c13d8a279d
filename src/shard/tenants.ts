import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { errorCode, FarthingError } from '../domain/error.ts';
import { awaitCrossing, native } from '../native/index.ts';
import { finishDisposals, makeFolder, unlinkTenant } from './disposal.ts';
import { type NativeShard, type Shard, type SpaceSpec, shardOf } from './shard.ts';
import { OpenSpaces } from './spaces.ts';

/** Disposed Tenants that are remembered, so that a late job cannot bring one back. */
const DISPOSED_MAX = 100_000;
const TENANT_ID = /^[a-z0-9_-]{1,120}$/i;

export interface TenantsOptions {
  /** JobsAwaitingPayment one folder for each Tenant. */
  readonly folder: string;
  readonly spaces: readonly SpaceSpec[];
  /** Indexes that are open at once; each costs three file descriptors and 64 GiB of address space. */
  readonly openShardsMax: number;
  /** From which number of vectors on a way of searching serves; what is left out is as measured. */
  readonly sizes?: SearchSizes;
  /** Hears of what goes on without anybody waiting for it: merges that failed. */
  readonly log?: (event: object) => void;
}

/** Vectors of a space from which bits, and a graph, are made and searched. */
export interface SearchSizes {
  readonly bitsRowsMin?: number;
  readonly graphRowsMin?: number;
}

/** An index that is open, opening or closing; a Tenant has at most one at a time. */
interface Entry {
  readonly opening: Promise<{ native: NativeShard; shard: Shard }>;
  opened?: { native: NativeShard; shard: Shard };
  leases: number;
  /** Of the monotonic clock, when it was last given back. */
  usedAt: number;
  /** Set once it is to close; whoever needs the Tenant again waits for it. */
  closing?: Promise<void>;
  whenFree?: () => void;
}

/** An entry with a lease: it stays open until that is given back. */
type Leased = Entry & Required<Pick<Entry, 'opened'>>;

/** Opens the owner of all Tenants' folders. */
export function openTenants(options: TenantsOptions): Tenants {
  return new Tenants(options);
}

/**
 * Owns every Tenant's folder and every open index: opened at first use, closed when idle and others need the room
 * (least recently used first), never opened twice.
 */
export class Tenants {
  readonly #folder: string;
  readonly #spaces: readonly SpaceSpec[];
  readonly #openShardsMax: number;
  readonly #sizes: SearchSizes;
  readonly #log: (event: object) => void;
  /** In order of last use. */
  readonly #entries = new Map<string, Entry>();
  readonly #disposals = new Map<string, Promise<void>>();
  readonly #disposed = new Set<string>();
  #closed = false;

  constructor({ folder, spaces, openShardsMax, sizes = {}, log = () => {} }: TenantsOptions) {
    this.#log = log;
    this.#folder = resolve(folder);
    this.#spaces = spaces;
    this.#openShardsMax = openShardsMax;
    this.#sizes = sizes;
  }

  /** Absolute path of the Tenant's folder, which need not exist. */
  folder(tenant: string): string {
    if (!TENANT_ID.test(tenant)) throw new FarthingError('internal', 'A tenant has an unusable id.');
    return join(this.#folder, tenant);
  }

  /** True when the Tenant has a folder and is not being disposed. */
  exists(tenant: string): boolean {
    if (this.#closed || this.#isGone(tenant)) return false;
    return this.#entries.get(tenant)?.opened !== undefined || existsSync(this.folder(tenant));
  }

  /**
   * Runs `work` with the Tenant's index kept open. An absent Tenant is created when `create` says so.
   * @throws not_found for an absent or disposed Tenant; overloaded when too many indexes are in use at once; interrupted once
   * the server stops: that nothing is there is never said of what is merely closed
   */
  async use<T>(
    tenant: string,
    { create = false }: { create?: boolean },
    work: (shard: Shard) => Promise<T> | T,
  ): Promise<T> {
    return this.#run(tenant, await this.#lease(tenant, create), work);
  }

  /** As `use`, and undefined where the Tenant is absent or disposed. */
  async useIfThere<T>(tenant: string, work: (shard: Shard) => Promise<T> | T): Promise<T | undefined> {
    const entry = await this.#lease(tenant, false).catch((error: unknown) => {
      if (errorCode(error) === 'not_found') return undefined;
      throw error;
    });
    return entry && this.#run(tenant, entry, work);
  }

  async #run<T>(tenant: string, entry: Leased, work: (shard: Shard) => Promise<T> | T): Promise<T> {
    const { opened } = entry;
    try {
      return await work(opened.shard);
    } finally {
      const failure = opened.native.takeMergeFailure();
      if (failure) this.#log({ event: 'merge_failed', tenant, failure });
      giveBack(entry);
    }
  }

  /**
   * Refuses new use, waits for what runs, closes the index and unlinks the folder durably; asked again while it runs: the
   * same promise. Afterwards the Tenant is refused, so that a late job can't bring it back, unless it `mayReturn`.
   * @throws interrupted once the server stops
   */
  dispose(tenant: string, { mayReturn = false }: { mayReturn?: boolean } = {}): Promise<void> {
    const running = this.#disposals.get(tenant);
    if (running) return running;
    if (this.#closed) return Promise.reject(stopping());
    const disposal = this.#dispose(tenant, mayReturn).finally(() => this.#disposals.delete(tenant));
    this.#disposals.set(tenant, disposal);
    return disposal;
  }

  /** Ids of all that have a folder, in no order. */
  async list(): Promise<string[]> {
    const names = await readdir(this.#folder).catch(() => []);
    return names.filter((name) => TENANT_ID.test(name));
  }

  /** To be awaited at start, before anything else: unlinks what a crash left of disposed Tenants; their ids. */
  async resumeDisposals(): Promise<string[]> {
    await makeFolder(this.#folder);
    return finishDisposals(this.#folder);
  }

  /** Refuses new use, waits for what runs, and closes every index. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#disposals.values());
    await Promise.all(
      [...this.#entries].map(async ([tenant, entry]) => {
        await free(entry);
        await this.#closeEntry(tenant, entry);
      }),
    );
  }

  /** Closes every index that nobody has used for so long: its memory and its files are given back. */
  async closeIdle(idleMs: number): Promise<void> {
    const before = performance.now() - idleMs;
    const idle = [...this.#entries].filter(
      ([, { leases, usedAt, opened }]) => opened !== undefined && leases === 0 && usedAt <= before,
    );
    await Promise.all(idle.map(([tenant, entry]) => this.#closeEntry(tenant, entry)));
  }

  /** Tenants whose index is open. */
  get openCount(): number {
    return this.#entries.size;
  }

  #isGone(tenant: string): boolean {
    return this.#disposals.has(tenant) || this.#disposed.has(tenant);
  }

  #notFound(): FarthingError {
    return new FarthingError('not_found', 'Nothing is stored here.');
  }

  /** The Tenant's entry with one lease more; taken without a pause once the entry is usable. */
  async #lease(tenant: string, create: boolean): Promise<Leased> {
    for (;;) {
      if (this.#closed) throw stopping();
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
    const folder = join(this.folder(tenant), 'shard');
    if (!create && !existsSync(join(folder, 'data.mdb'))) throw this.#notFound();
    const opening = this.#openNative(folder);
    const entry: Entry = { opening, leases: 0, usedAt: performance.now() };
    // Whoever asked gets the error; the next one tries again.
    opening.catch(() => {
      if (this.#entries.get(tenant) === entry) this.#entries.delete(tenant);
    });
    return entry;
  }

  async #openNative(folder: string): Promise<{ native: NativeShard; shard: Shard }> {
    await makeFolder(folder);
    const spaces = this.#spaces.map((space) => ({ ...space }));
    const opened = await awaitCrossing(() => native.openShard(folder, spaces, { ...this.#sizes }));
    return { native: opened, shard: shardOf(opened, new OpenSpaces(opened, spaces.length)) };
  }

  async #closeIdlest(): Promise<void> {
    for (const [tenant, entry] of this.#entries) {
      if (entry.closing) return entry.closing;
      if (entry.leases === 0) return this.#closeEntry(tenant, entry);
    }
    throw new FarthingError('overloaded', 'Too many indexes are in use. Try again.', { retryAfterS: 1 });
  }

  #closeEntry(tenant: string, entry: Entry): Promise<void> {
    entry.closing ??= this.#closeNative(entry).finally(() => {
      if (this.#entries.get(tenant) === entry) this.#entries.delete(tenant);
    });
    return entry.closing;
  }

  async #closeNative(entry: Entry): Promise<void> {
    const opened = await entry.opening.catch(() => undefined);
    await opened?.native.close();
  }

  async #dispose(tenant: string, mayReturn: boolean): Promise<void> {
    // The caller's entry in `#disposals` is made in the same turn: from here on nobody gets a new lease.
    await Promise.resolve();
    const entry = this.#entries.get(tenant);
    if (entry) {
      await free(entry);
      await this.#closeEntry(tenant, entry);
    }
    await unlinkTenant(this.#folder, tenant);
    if (!mayReturn) this.#remember(tenant);
  }

  #remember(tenant: string): void {
    this.#disposed.add(tenant);
    const [oldest] = this.#disposed;
    if (this.#disposed.size > DISPOSED_MAX && oldest !== undefined) this.#disposed.delete(oldest);
  }
}

function stopping(): FarthingError {
  return new FarthingError('interrupted', 'The server is stopping.', { retryAfterS: 5 });
}

function giveBack(entry: Entry): void {
  entry.leases -= 1;
  entry.usedAt = performance.now();
  if (entry.leases === 0) entry.whenFree?.();
}

/** Resolves when nobody uses the index. */
async function free(entry: Entry): Promise<void> {
  if (entry.leases === 0) return;
  await new Promise<void>((resolveFree) => {
    const before = entry.whenFree;
    entry.whenFree = () => {
      before?.();
      resolveFree();
    };
  });
}
