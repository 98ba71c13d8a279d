import type { SpaceSpec } from '../space.ts';
import type { Shard } from './shard.ts';

/** An index that is opened to be made again. */
export interface RestoredIndex {
  readonly shard: Shard;
  close(): Promise<void>;
}

/** Where the Tenants' indexes survive the loss of this disk, whose folders are copies then. */
export interface IndexKeeper {
  /** Whether the Tenant has an index. */
  has(tenant: string): boolean;
  /** Ids of all Tenants that have one. */
  tenants(): Iterable<string>;
  /**
   * Brings the local index to the stored state before it is opened: it is reused, caught up or rebuilt.
   * @param folder absolute path of the Tenant's folder
   * @param open opens the index in it with given spaces
   */
  restore(
    tenant: string,
    folder: string,
    open: (spaces: readonly SpaceSpec[]) => Promise<RestoredIndex>,
  ): Promise<void>;
  /** The same index, with each write logged before it is made. */
  kept(tenant: string, folder: string, shard: Shard): Shard;
  /** Whether it is time to call `takeSnapshot`. */
  snapshotIsDue(tenant: string): boolean;
  /** Keeps the whole index instead of the writes that made it. */
  takeSnapshot(tenant: string, folder: string, shard: Shard): Promise<void>;
  /** Destroys all stored data of a Tenant, and its key. Its folder is already gone. Idempotent. */
  destroy(tenant: string): Promise<void>;
}
