import { createHash } from 'node:crypto';
import { errorCode } from '../domain/error.ts';
import type { WorkspaceInventory } from '../domain/workspace.ts';
import type { TenantFolders, TenantShard } from './tenants.ts';

const PAGE = 1000;

/** SHA-256 (hexadecimal) over the items' own SHA-256 digests in lower-case hexadecimal, sorted, each followed by a newline. */
export function digestOfItems(digests: readonly string[]): string {
  const hash = createHash('sha256');
  for (const digest of [...digests].sort()) hash.update(`${digest}\n`);
  return hash.digest('hex');
}

/** What a Tenant holds; nothing at all when it never ingested. */
export async function inventoryOf(tenants: TenantFolders, tenant: string): Promise<WorkspaceInventory> {
  try {
    return await tenants.use(tenant, {}, async (shard) => {
      const digests: string[] = [];
      for (let after: string | undefined; ; ) {
        const items = shard.items({ after, limit: PAGE });
        digests.push(...items.map(({ sha256 }) => sha256));
        if (items.length < PAGE) break;
        after = items.at(-1)!.id;
        await new Promise(setImmediate);
      }
      return { ...countsOf(shard), itemsDigest: digestOfItems(digests) };
    });
  } catch (error) {
    if (errorCode(error) !== 'not_found') throw error;
    return { items: 0, segments: 0, bytes: 0, itemsDigest: digestOfItems([]) };
  }
}

/** Searchable items, segments and bytes of a Tenant. */
export async function contentsOf(
  tenants: TenantFolders,
  tenant: string,
): Promise<Omit<WorkspaceInventory, 'itemsDigest'>> {
  try {
    return await tenants.use(tenant, {}, countsOf);
  } catch (error) {
    if (errorCode(error) !== 'not_found') throw error;
    return { items: 0, segments: 0, bytes: 0 };
  }
}

function countsOf(shard: TenantShard): Omit<WorkspaceInventory, 'itemsDigest'> {
  const snapshot = shard.snapshot();
  try {
    const { items, segments, bytes } = snapshot.counts();
    return { items, segments, bytes };
  } finally {
    snapshot.close();
  }
}
