import { readdir, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { unlinkTenant } from '@farthing/engine/shard/disposal';
import type { RestoredIndex } from '@farthing/engine/shard/keeper';
import { INDEX } from '@farthing/engine/shard/tenants';
import type { SpaceSpec } from '@farthing/engine/space';
import { errorCode, rootCause } from '@farthing/protocol/error';
import { forgetOldest } from '@farthing/queues/forget-oldest';
import type { Change } from '../log/changes.ts';
import type { SlotStore } from '../log/recorded-store.ts';
import { Content, type ContentDeps, PLACE_FILE } from './content.ts';
import { ContentIndexKeeper } from './index-keeper.ts';
import { ReadingObjects } from './reading-objects.ts';
import { type ContentHead, ContentRows } from './rows.ts';
import { stoppable, stopped } from './stoppable-index.ts';

export interface FollowedIndexesOptions extends ContentDeps {
  /** Spaces of the models in use. */
  readonly spaces: readonly SpaceSpec[];
  /** Absolute paths of the slots' folders of Tenants, in order. */
  readonly folders: readonly string[];
  /** Opens the index in a folder. */
  readonly open: (folder: string, spaces: readonly SpaceSpec[]) => Promise<RestoredIndex>;
  /** Maximum size of all indexes followed here. */
  readonly bytesMax: number;
  /** Nothing is added to a disk that has less. */
  readonly freeBytesMin: number;
  /** After a failure. */
  readonly retryMs?: number;
}

/** Numbers of indexes, and bytes. */
export interface FollowedFigures {
  /** Number of indexes up to date with the followed stores. */
  readonly current: number;
  readonly behind: number;
  /** Indexes without room, or that cannot be built. */
  readonly left_out: number;
  readonly bytes: number;
}

/** A Tenant of a slot that is followed. */
interface Tenant {
  readonly slot: number;
  /** The later it was used, the higher; 0 when that is not known. */
  used: number;
  /** Size of its local index; undefined for none. */
  bytes: number | undefined;
  /** Why its index could not be made, and how often in a row. */
  failure?: { readonly text: string; readonly count: number } | undefined;
}

interface Work {
  readonly tenant: string;
  readonly slot: number;
  isStopped: boolean;
  readonly done: Promise<void>;
}

/** Tables whose rows change when a Tenant is used; their keys are Tenants' ids. */
const TABLES_OF_USE: ReadonlySet<string> = new Set(['content', 'workspace_activity', 'payer_index']);
const HEADS = 'content';
/** After the object store did not answer, the disk was full, or an object was gone. Longer than the followed stores usually lag. */
const RETRY_MS = 5000;
const ENDED_MAX = 100_000;
/** Matches any head id of a Tenant, where the store does not have the one that ends. */
const ANY = '';

/**
 * Copies of the indexes of slots that other servers own, built from the followed stores: one at a time, most recently used first, as many
 * as there is room for. They serve no requests here. Files are not copied.
 */
export class FollowedIndexes {
  readonly #options: FollowedIndexesOptions;
  readonly #objects: ReadingObjects;
  readonly #content: Content;
  readonly #keeper: ContentIndexKeeper;
  readonly #slots = new Set<number>();
  readonly #tenants = new Map<string, Tenant>();
  /** Those that may have changed. */
  readonly #due = new Set<string>();
  /** The same, the last one first in turn; some are in it twice, or no longer due. */
  #turns: string[] = [];
  /** They are due again later, for their indexes could not be made. */
  readonly #later = new Map<string, NodeJS.Timeout>();
  /** Tenants whose servers have announced their end: the ids of their heads, or `ANY`. */
  readonly #ended = new Map<string, string>();
  #bytes = 0;
  #uses = 0;
  #work: Work | undefined;
  #retry: NodeJS.Timeout | undefined;

  constructor(options: FollowedIndexesOptions) {
    this.#options = options;
    this.#objects = new ReadingObjects(options.objects);
    this.#content = new Content({ ...options, objects: this.#objects });
    this.#keeper = new ContentIndexKeeper(this.#content, options.spaces);
  }

  /**
   * Starts following a slot. Indexes in its folder are reused as far as the store's history covers them; unknown ones are removed.
   * @param store consistent copy of the slot's store
   */
  async add(slot: number, store: SlotStore): Promise<void> {
    const here = await readdir(this.#options.folders[slot]!).catch(() => []);
    this.#slots.add(slot);
    this.#content.add(slot, store);
    for (const { key } of new ContentRows(store).heads.range()) this.#see(slot, key);
    for (const tenant of here) this.#see(slot, tenant);
    this.#goOn();
  }

  /** To be called when the followed store has changed. */
  changed(slot: number, changes: readonly Change[]): void {
    if (!this.#slots.has(slot)) return;
    for (const { table, key } of changes) {
      if (table === HEADS) this.#see(slot, key);
      if (TABLES_OF_USE.has(table)) this.#use(key);
    }
    this.#goOn();
  }

  /** Stops following a slot, so that its folder is free for other use. */
  async leave(slot: number): Promise<void> {
    if (!this.#slots.delete(slot)) return;
    for (const [tenant, { slot: own, bytes = 0 }] of this.#tenants) {
      if (own !== slot) continue;
      this.#bytes -= bytes;
      this.#tenants.delete(tenant);
      this.#isNotDue(tenant);
    }
    if (this.#work?.slot === slot) await this.#stop(this.#work);
    await this.#content.leave(slot);
  }

  /** A Tenant ends: its index is removed here, and never made again. */
  async remove(slot: number, tenant: string): Promise<void> {
    const head = this.#slots.has(slot) ? this.#content.rows(tenant).heads.get(tenant) : undefined;
    // A Tenant that ends twice may have been created again in between, which this copy of the store does not show yet.
    this.#ended.set(tenant, this.#ended.has(tenant) ? ANY : (head?.id ?? ANY));
    forgetOldest(this.#ended, ENDED_MAX);
    this.#isNotDue(tenant);
    if (this.#work?.tenant === tenant) await this.#stop(this.#work);
    await this.#unlink(tenant, slot);
  }

  /** Whether all indexes of a slot that belong here are as current as the followed store. */
  isLevel(slot: number): boolean {
    if (!this.#slots.has(slot) || this.#work?.slot === slot) return false;
    const waiting = [...this.#due, ...this.#later.keys()];
    return !waiting.some((tenant) => this.#tenants.get(tenant)?.slot === slot);
  }

  get figures(): FollowedFigures {
    let [current, left_out] = [0, 0];
    for (const [tenant, { bytes }] of this.#tenants) {
      if (this.#due.has(tenant) || this.#later.has(tenant) || this.#work?.tenant === tenant) continue;
      if (bytes === undefined) left_out += 1;
      else current += 1;
    }
    return { current, left_out, behind: this.#tenants.size - current - left_out, bytes: this.#bytes };
  }

  async close(): Promise<void> {
    clearTimeout(this.#retry);
    for (const slot of [...this.#slots]) await this.leave(slot);
  }

  #see(slot: number, tenant: string): void {
    if (!this.#tenants.has(tenant)) this.#tenants.set(tenant, { slot, used: 0, bytes: undefined });
    this.#isDue(tenant);
  }

  #use(tenant: string): void {
    const known = this.#tenants.get(tenant);
    if (!known) return;
    this.#uses += 1;
    known.used = this.#uses;
    // There may be room for it now.
    if (known.bytes === undefined || this.#due.has(tenant)) this.#isDue(tenant);
  }

  #isDue(tenant: string): void {
    if (this.#later.has(tenant)) return;
    this.#due.add(tenant);
    this.#turns.push(tenant);
    if (this.#turns.length > 2 * this.#due.size + 1000) this.#turns = [...this.#due];
  }

  #isDueLater(tenant: string): void {
    const { retryMs = RETRY_MS } = this.#options;
    this.#due.delete(tenant);
    const timer = setTimeout(() => {
      this.#later.delete(tenant);
      this.#isDue(tenant);
      this.#goOn();
    }, retryMs);
    this.#later.set(tenant, timer.unref());
  }

  #isNotDue(tenant: string): void {
    clearTimeout(this.#later.get(tenant));
    this.#later.delete(tenant);
    this.#due.delete(tenant);
  }

  #goOn(): void {
    if (this.#work || this.#retry) return;
    for (;;) {
      const tenant = this.#turns.pop();
      if (tenant === undefined) return;
      const known = this.#tenants.get(tenant);
      if (!known || !this.#due.delete(tenant)) continue;
      this.#begin(tenant, known);
      return;
    }
  }

  #begin(tenant: string, known: Tenant): void {
    const done = Promise.withResolvers<void>();
    const work: Work = { tenant, slot: known.slot, isStopped: false, done: done.promise };
    this.#work = work;
    this.#objects.begin();
    void this.#follow(work, known)
      .catch((error: unknown) => this.#failed(work, known, error))
      .finally(() => {
        this.#work = undefined;
        done.resolve();
        this.#goOn();
      });
  }

  async #stop(work: Work): Promise<void> {
    work.isStopped = true;
    this.#objects.stop(stopped());
    await work.done;
  }

  async #failed({ tenant, isStopped }: Work, known: Tenant, error: unknown): Promise<void> {
    if (isStopped) return;
    const { log, retryMs = RETRY_MS } = this.#options;
    const isLater = ['objects_unavailable', 'storage_full'].includes(String(errorCode(error)));
    if (isLater) {
      this.#isDue(tenant);
      this.#retry = setTimeout(() => {
        this.#retry = undefined;
        this.#goOn();
      }, retryMs).unref();
      return;
    }
    const text = rootCause(error);
    const count = known.failure?.text === text ? known.failure.count + 1 : 1;
    known.failure = { text, count };
    // The owner removes objects as soon as its own store references others: this copy of the store will soon do so, too.
    if (count === 1) {
      this.#isDueLater(tenant);
      return;
    }
    if (count === 2) log({ level: 'warn', event: 'index_not_followed', tenant, error: text });
    await this.#unlink(tenant).catch(() => undefined);
  }

  async #follow(work: Work, known: Tenant): Promise<void> {
    const { tenant } = work;
    const { heads } = this.#content.rows(tenant);
    const head = heads.get(tenant);
    const ended = this.#ended.get(tenant);
    if (!head || ended === ANY || ended === head.id) {
      await this.#unlink(tenant);
      if (head) return;
      this.#ended.delete(tenant);
      if (!this.#due.has(tenant)) this.#tenants.delete(tenant);
      return;
    }
    // It has come again.
    this.#ended.delete(tenant);
    const home = this.#home(tenant);
    if (!(await this.#hasRoomFor(known, head))) {
      await this.#unlink(tenant);
      return;
    }
    const { open } = this.#options;
    await this.#keeper.restore(tenant, home, async (spaces) => {
      if (work.isStopped) throw stopped();
      const opened = await open(join(home, INDEX), spaces);
      return { ...opened, shard: stoppable(opened.shard, work) };
    });
    known.failure = undefined;
    // A newer snapshot truncated the log, so this index may miss writes.
    if (snapshotOf(heads.get(tenant)) !== snapshotOf(head)) {
      await this.#content.forgetPlace(home);
      if (!work.isStopped) this.#isDue(tenant);
    }
    const bytes = await bytesIn(join(home, INDEX));
    // The slot may have been released since.
    if (this.#tenants.get(tenant) !== known) return;
    this.#bytes += bytes - (known.bytes ?? 0);
    known.bytes = bytes;
    if (this.#bytes > this.#options.bytesMax) await this.#makeRoom(0, known.used + 1);
  }

  /** Whether its index may be made, or grow. */
  async #hasRoomFor(known: Tenant, head: ContentHead): Promise<boolean> {
    const { freeBytesMin, folders } = this.#options;
    const needed = Math.max(known.bytes ?? 0, (head.snapshot?.bytes ?? 0) + head.cost);
    if (known.bytes === undefined) {
      const { bavail, bsize } = await statfs(folders[known.slot]!).catch(() => ({
        bavail: 1,
        bsize: Infinity,
      }));
      if (bavail * bsize < freeBytesMin + needed) return false;
    }
    return this.#makeRoom(needed - (known.bytes ?? 0), known.used);
  }

  /** Removes indexes that were not used since, the least used first, until so many more bytes fit. @returns whether they do */
  async #makeRoom(bytes: number, since: number): Promise<boolean> {
    const isEnough = () => this.#bytes + bytes <= this.#options.bytesMax;
    if (isEnough()) return true;
    const others = [...this.#tenants]
      .filter(([, { bytes: own, used }]) => own !== undefined && used < since)
      .sort(([, a], [, b]) => a.used - b.used);
    for (const [tenant] of others) {
      if (isEnough()) break;
      await this.#unlink(tenant);
    }
    return isEnough();
  }

  /** Only while no work runs on it. @param slot of one that the store may not have */
  async #unlink(tenant: string, slot?: number): Promise<void> {
    const known = this.#tenants.get(tenant);
    this.#bytes -= known?.bytes ?? 0;
    if (known) known.bytes = undefined;
    const folder = this.#options.folders[known?.slot ?? slot ?? -1];
    if (folder !== undefined) await unlinkTenant(folder, tenant).catch(unlessAbsent);
  }

  #home(tenant: string): string {
    return join(this.#options.folders[this.#tenants.get(tenant)!.slot]!, tenant);
  }
}

/** Removes all of a slot's folder of Tenants but their indexes: files and what else belongs to them come from elsewhere, or are not copied. */
export async function keepIndexesAlone(folder: string): Promise<void> {
  const isKept = (name: string) => name === INDEX || name === PLACE_FILE;
  for (const tenant of await readdir(folder).catch(() => []))
    for (const name of await readdir(join(folder, tenant)))
      if (tenant.startsWith('.') || !isKept(name))
        await rm(join(folder, tenant, name), { recursive: true, force: true });
}

/** Identity of an index's snapshot. */
function snapshotOf(head: ContentHead | undefined): string | undefined {
  return head && `${head.id} ${head.snapshot?.seq} ${head.snapshot?.files.map(({ blob }) => blob.id).join()}`;
}

async function bytesIn(folder: string): Promise<number> {
  const names = await readdir(folder).catch(() => []);
  const sizes = await Promise.all(
    names.map(async (name) => {
      const found = await stat(join(folder, name)).catch(() => undefined);
      return found ? 512 * found.blocks : 0;
    }),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

function unlessAbsent(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
