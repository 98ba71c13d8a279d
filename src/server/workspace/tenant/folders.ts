import type { SpaceSpec } from '@farthing/engine/space';
import type { ItemId, TenantId } from '@farthing/protocol/id';
import type { Item } from '@farthing/protocol/schema/items';

/** A Tenant's index, as far as workspaces use it. */
export interface TenantShard {
  snapshot(): {
    counts(): { readonly items: number; readonly segments: number; readonly bytes: number };
    close(): void;
  };
  readonly spaces: readonly SpaceSpec[];
  /** Paginates by insertion order, after this id. */
  items(options: { after?: ItemId; limit: number }): readonly Item[];
}

/** The owner of the Tenants' folders, as far as workspaces use it. */
export interface TenantFolders {
  folder(tenant: TenantId): string;
  /** Undefined for a Tenant that has nothing or is being disposed. */
  useIfThere<T>(tenant: TenantId, work: (shard: TenantShard) => Promise<T> | T): Promise<T | undefined>;
  /** Refuses new use, waits for running use, and unlinks the folder durably. Idempotent. */
  dispose(tenant: TenantId): Promise<void>;
}
