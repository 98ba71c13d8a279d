import { createHash } from 'node:crypto';
import type { SpaceSpec } from '@farthing/engine/space';
import type { SpaceName } from '@farthing/protocol/family';
import type { ItemId, TenantId } from '@farthing/protocol/id';
import type { WorkspaceInventory } from '../workspace.ts';
import type { TenantFolders, TenantShard } from './folders.ts';

const PAGE = 1000;
const TEXTS = 'text_semantic' satisfies SpaceName;
const NOTHING: Contents = { items: 0, segments: 0, bytes: 0 };

type Contents = Omit<WorkspaceInventory, 'itemsDigest'>;

/** SHA-256 (hexadecimal) over the SHA-256 digests of the items: lower-case hexadecimal, sorted, a newline after each. */
export function digestOfItems(digests: readonly string[]): string {
  const hash = createHash('sha256');
  for (const digest of [...digests].sort()) hash.update(`${digest}\n`);
  return hash.digest('hex');
}

/** Counts and digest of a Tenant's searchable items. Zero for a Tenant that never ingested. */
export async function inventoryOf(tenants: TenantFolders, tenant: TenantId): Promise<WorkspaceInventory> {
  const inventory = await tenants.useIfThere(tenant, async (shard) => {
    const digests: string[] = [];
    for (let after: ItemId | undefined; ; ) {
      const items = shard.items({ after, limit: PAGE });
      for (const { state, sha256 } of items) if (state === 'searchable') digests.push(sha256);
      if (items.length < PAGE) break;
      after = items.at(-1)!.id;
      await new Promise(setImmediate);
    }
    return { ...countsOf(shard), itemsDigest: digestOfItems(digests) };
  });
  return inventory ?? { ...NOTHING, itemsDigest: digestOfItems([]) };
}

/** Counts of a Tenant's searchable items, their segments and bytes; and the space of their texts, once there are any. */
export async function contentsOf(
  tenants: TenantFolders,
  tenant: TenantId,
): Promise<{ readonly counts: Contents; readonly texts?: SpaceSpec | undefined }> {
  const contents = await tenants.useIfThere(tenant, (shard) => {
    const counts = countsOf(shard);
    return {
      counts,
      texts: counts.segments > 0 ? shard.spaces.find(({ name }) => name === TEXTS) : undefined,
    };
  });
  return contents ?? { counts: NOTHING };
}

function countsOf(shard: TenantShard): Contents {
  const snapshot = shard.snapshot();
  try {
    const { items, segments, bytes } = snapshot.counts();
    return { items, segments, bytes };
  } finally {
    snapshot.close();
  }
}
