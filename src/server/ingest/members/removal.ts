import type { ItemId, TenantId } from '@farthing/protocol/id';
import { removePreviews } from '../items/previews.ts';
import type { IngestTenants, StoredFiles } from '../ports/ports.ts';
import { removeMembers } from './members.ts';

/**
 * Removes an Item whose job has ended: the files inside it, its file, its previews, then its Segments from every family at once. The Item
 * goes last, so that it can be removed again after a crash.
 * @returns false when there was none
 */
export async function removeItem(
  { tenants, files }: { readonly tenants: IngestTenants; readonly files: StoredFiles },
  tenant: TenantId,
  id: ItemId,
): Promise<boolean> {
  const folder = tenants.folder(tenant);
  await tenants.useIfThere(tenant, async (shard) => {
    const item = shard.item(id);
    if (item) await removeMembers(shard, { tenant, folder, files }, item);
  });
  await files.remove(tenant, id);
  await removePreviews(folder, id);
  return (await tenants.useIfThere(tenant, (shard) => shard.removeItem(id))) ?? false;
}
