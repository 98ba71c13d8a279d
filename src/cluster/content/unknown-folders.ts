import { readdir } from 'node:fs/promises';
import { unlinkTenant } from '@farthing/engine/shard/disposal';
import type { SlotStore } from '../log/recorded-store.ts';
import { ContentRows } from './rows.ts';

/**
 * Removes folders of Tenants that another server destroyed while this disk was away.
 * @param folder of a slot's Tenants
 * @param store of the slot
 */
export async function removeUnknown(
  folder: string,
  store: SlotStore,
  log: (event: object) => void,
): Promise<void> {
  const { heads } = new ContentRows(store);
  for (const tenant of await readdir(folder).catch(() => [])) {
    if (tenant.startsWith('.') || heads.get(tenant)) continue;
    await unlinkTenant(folder, tenant);
    log({ event: 'unknown_folder_removed', tenant });
  }
}
