import type { TenantId } from '../../domain/id.ts';
import type { Item } from '../../domain/item.ts';

/** What this part needs of a Tenant's index. */
export interface TenantShard {
  snapshot(): {
    counts(): { readonly items: number; readonly segments: number; readonly bytes: number };
    close(): void;
  };
  /** In order of insertion, after the item with this id. */
  items(options: { after?: string; limit: number }): readonly Item[];
}

/** What this part needs of the owner of the Tenants' folders. */
export interface TenantFolders {
  folder(tenant: TenantId): string;
  /** Undefined when the Tenant has nothing, or is being disposed. */
  useIfThere<T>(tenant: TenantId, work: (shard: TenantShard) => Promise<T> | T): Promise<T | undefined>;
  /** Refuses new use, waits for running ones, and unlinks the folder durably. Idempotent. */
  dispose(tenant: TenantId): Promise<void>;
}
