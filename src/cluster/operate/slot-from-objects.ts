import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { IndexKeeper } from '@farthing/engine/shard/keeper';
import { openTenants } from '@farthing/engine/shard/tenants';
import type { Clock } from '@farthing/protocol/clock';
import type { Item } from '@farthing/protocol/schema/items';
import { BackupsTaken } from '@farthing/server/operator/backup/backups-taken';
import { completeCopy, knownIn } from '@farthing/server/operator/backup/copied-index';
import { forgetLog } from '@farthing/server/state/log-position';
import { openStore, type RawStore } from '@farthing/server/state/store';
import { CopiedRegistry } from '@farthing/server/workspace/copied-registry';
import { forgetObjects } from '../content/books-with-objects.ts';
import { Content } from '../content/content.ts';
import { ContentIndexKeeper } from '../content/index-keeper.ts';
import { ContentRows, keyOf } from '../content/rows.ts';
import type { Etcd } from '../stores/etcd.ts';
import { type Objects, readOnly } from '../stores/objects/objects.ts';
import { type ClusterKey, SealBrokenError } from '../stores/seal.ts';
import { copyBooksAtMoment } from './books-at-moment.ts';

/** A cluster that is to be backed up. */
export interface ClusterBackup {
  readonly etcd: Etcd;
  readonly objects: Objects;
  readonly clusterKeys: readonly [ClusterKey, ...ClusterKey[]];
  /** Name of the cluster. */
  readonly cluster: string;
  readonly slots: number;
  /** Bytes that are free for a folder. Absent: what its file system says. */
  readonly freeBytes?: (folder: string) => Promise<number>;
  /** Shows how far it is. */
  readonly progress?: (line: string) => void;
  /** Ends it: nothing of it stays. */
  readonly signal?: AbortSignal;
}

export interface SlotFromObjectsOptions extends ClusterBackup {
  readonly slot: number;
  /** Absolute path of the slot's folder in the backup. Its state is there. */
  readonly folder: string;
  /** Absolute path of a folder for a later copy of the store. */
  readonly later: string;
  /** When the backup was begun, in milliseconds since the epoch. */
  readonly takenAt: number;
  readonly clock: Clock;
}

/** An object may be removed while it is looked for: a later copy of the store names its replacement. */
const TRIES_MAX = 8;

/** One slot of a backup: its copied state, and its Tenants out of the objects. */
export class SlotFromObjects {
  readonly #options: SlotFromObjectsOptions;
  readonly #state: RawStore;
  #later: RawStore | undefined;
  tenants = 0;

  constructor(options: SlotFromObjectsOptions) {
    this.#options = options;
    this.#state = openStore(this.#statePath, { durable: false });
  }

  /** About as many bytes its Tenants need. */
  bytes(): number {
    const { heads, files } = new ContentRows(this.#state);
    let sum = 0;
    for (const { value } of heads.range()) sum += value.cost + (value.snapshot?.bytes ?? 0);
    for (const { value } of files.range()) sum += value.bytes;
    return sum;
  }

  /** Fetches each Tenant, and makes the state one that needs no objects. @param onTenant called with each before it is fetched */
  async fill(onTenant: (tenant: string) => void): Promise<void> {
    const { takenAt, clock, signal } = this.#options;
    const registry = new CopiedRegistry(this.#state, clock);
    for await (const tenant of registry.tenants()) {
      signal?.throwIfAborted();
      onTenant(tenant);
      await this.#fetch(tenant);
      this.tenants += 1;
    }
    const ended = await registry.endAsIn(await this.#readLater());
    for (const tenant of ended) await rm(this.#tenantPath(tenant), { recursive: true, force: true });
    this.tenants -= ended.length;
    await new BackupsTaken(this.#state).note(takenAt);
    // Which models filled the indexes is looked up at the first start: here some were made again from writes.
    await this.#state.table('models').remove('filled');
    await forgetObjects(this.#state);
    await forgetLog(this.#state, this.#statePath);
  }

  async close(): Promise<void> {
    await this.#state.close();
    await this.#later?.close();
    await rm(this.#options.later, { recursive: true, force: true });
  }

  async #fetch(tenant: string): Promise<void> {
    let books: RawStore = this.#later ?? this.#state;
    for (let tries = 1; ; tries++) {
      try {
        return await this.#fetchAsIn(books, tenant);
      } catch (error) {
        await rm(this.#tenantPath(tenant), { recursive: true, force: true });
        if (!isBroken(error) || tries === TRIES_MAX) throw error;
        books = await this.#readLater();
      }
    }
  }

  /** @throws shard_corrupt or SealBrokenError for an object that is not there, or damaged */
  async #fetchAsIn(books: RawStore, tenant: string): Promise<void> {
    const { slot, slots, clusterKeys, objects, folder, takenAt, clock } = this.#options;
    const content = new Content({ slots, clusterKeys, objects: readOnly(objects), log: () => undefined });
    content.add(slot, books);
    const keeper = new ContentIndexKeeper(content, []);
    const bring = async ({ id }: Item, path: string) => {
      const blob = content.rows(tenant).files.get(keyOf(tenant, id));
      if (blob) await content.blobs.getFile(tenant, await content.key(tenant), blob, path);
      return blob !== undefined;
    };
    const known = knownIn(this.#state, clock, takenAt);
    const home = this.#tenantPath(tenant);
    const tenants = openTenants({
      folder: join(folder, 'tenants'),
      spaces: [],
      openShardsMax: 1,
      keeper: restoring(keeper),
    });
    try {
      await tenants.useIfThere(tenant, (shard) => completeCopy(shard, { folder: home, bring, known }));
    } finally {
      await tenants.close();
      await content.forgetPlace(home);
    }
  }

  /** The slot's store as it is now. */
  async #readLater(): Promise<RawStore> {
    const { later, slot, etcd, cluster, signal } = this.#options;
    await this.#later?.close();
    this.#later = undefined;
    await rm(later, { recursive: true, force: true });
    await copyBooksAtMoment({ etcd, cluster, states: new Map([[slot, later]]), ...(signal && { signal }) });
    this.#later = openStore(later, { durable: false });
    return this.#later;
  }

  get #statePath(): string {
    return join(this.#options.folder, 'state');
  }

  #tenantPath(tenant: string): string {
    return join(this.#options.folder, 'tenants', tenant);
  }
}

/** Restores indexes from the backup, without recording changes to them. */
function restoring(keeper: IndexKeeper): IndexKeeper {
  return {
    has: (tenant) => keeper.has(tenant),
    tenants: () => keeper.tenants(),
    restore: (tenant, folder, open) => keeper.restore(tenant, folder, open),
    kept: (_tenant, _folder, shard) => shard,
    snapshotIsDue: () => false,
    takeSnapshot: async () => undefined,
    destroy: async () => undefined,
  };
}

function isBroken(error: unknown): boolean {
  return error instanceof SealBrokenError || (error as Error).cause instanceof SealBrokenError;
}
