import { createHash } from 'node:crypto';
import { type ItemId, idFrom } from '../../domain/id.ts';
import type { Item } from '../../domain/item.ts';
import { fileOf, removeFile } from '../items/files.ts';
import { removePreviews } from '../items/previews.ts';
import type { IngestShard } from '../ports/ports.ts';

/**
 * Id of a file inside another Item's file: it follows from the parent's id and the file's number (from 0), so that all of them are known
 * from the parent's record, and a job that begins again after a crash writes each in its own place.
 */
export function memberId(parent: ItemId, index: number): ItemId {
  return idFrom('item', createHash('sha256').update(`${parent}/${index}`).digest('hex').slice(0, 32));
}

/** Items of a parent's files, in the order of the archive, after the one with this id. */
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

/** Removes all that was unpacked from an Item: files, Segments and Items, and what was unpacked from those. */
export async function removeMembers(
  shard: Pick<IngestShard, 'item' | 'removeItem'>,
  tenantFolder: string,
  { id, members = 0 }: Item,
): Promise<void> {
  for (let index = 0; index < members; index++) {
    const member = memberId(id, index);
    const item = shard.item(member);
    if (item) await removeMembers(shard, tenantFolder, item);
    await removeFile(fileOf(tenantFolder, member));
    if (!item) continue;
    await removePreviews(tenantFolder, member);
    await shard.removeItem(member);
  }
}

/** The archive that was sent, of an Item that came out of it; undefined when one of its parents is gone. */
export function sentItem(shard: Pick<IngestShard, 'item'>, item: Item): Item | undefined {
  if (item.parent_item_id === undefined) return item;
  const parent = shard.item(item.parent_item_id);
  return parent && sentItem(shard, parent);
}
