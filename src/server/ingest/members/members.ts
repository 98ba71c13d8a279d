import { createHash } from 'node:crypto';
import { type ItemId, idFrom, type TenantId } from '@farthing/protocol/id';
import type { Item } from '@farthing/protocol/schema/items';
import { removePreviews } from '../items/previews.ts';
import type { IngestShard, IngestTenants, StoredFiles } from '../ports/ports.ts';

/**
 * Id of a file inside another Item's file. It follows from the parent's id and the file's number (from 0): the parent's
 * record gives all of them, and a job that restarts after a crash writes each to the same place.
 */
export function memberId(parent: ItemId, index: number): ItemId {
  return idFrom('item', createHash('sha256').update(`${parent}/${index}`).digest('hex').slice(0, 32));
}

/** Items of the files in a parent, in the archive's order, after the one with this id. */
export function membersOf(
  shard: Pick<IngestShard, 'item'>,
  { id, members = 0 }: Item,
  { after, limit }: { after?: ItemId; limit: number },
): Item[] {
  const found: Item[] = [];
  let passed = after === undefined;
  for (let index = 0; index < members && found.length < limit; index++) {
    const member = memberId(id, index);
    const item = passed ? shard.item(member) : undefined;
    if (item) found.push(item);
    passed ||= member === after;
  }
  return found;
}

/** Where a Tenant's files and previews lie. */
export interface MemberFiles {
  readonly tenant: TenantId;
  /** Absolute path of the Tenant's folder. */
  readonly folder: string;
  readonly files: Pick<StoredFiles, 'remove'>;
}

/** Removes everything unpacked from an Item, at every depth: files, Segments and Items. */
export async function removeMembers(
  shard: Pick<IngestShard, 'item' | 'removeItem'>,
  from: MemberFiles,
  { id, members = 0 }: Item,
): Promise<void> {
  const { tenant, folder, files } = from;
  for (let index = 0; index < members; index++) {
    const member = memberId(id, index);
    const item = shard.item(member);
    if (item) await removeMembers(shard, from, item);
    await files.remove(tenant, member);
    if (!item) continue;
    await removePreviews(folder, member);
    await shard.removeItem(member);
  }
}

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

/** The uploaded Item that contains this one, or is it; undefined when one of its parents is gone. */
export function uploadedItem(shard: Pick<IngestShard, 'item'>, item: Item): Item | undefined {
  if (item.parent_item_id === undefined) return item;
  const parent = shard.item(item.parent_item_id);
  return parent && uploadedItem(shard, parent);
}
