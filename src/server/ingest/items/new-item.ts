import type { FileInfo } from '@farthing/protocol/document';
import { type ItemId, jobOfItem, type LeadsHere, newId, type TenantId } from '@farthing/protocol/id';
import type { Job } from '@farthing/protocol/job';
import type { Item } from '@farthing/protocol/schema/items';

type Origin = Pick<Item, 'id' | 'name' | 'bytes' | 'sha256' | 'created_at' | 'expires_at'> &
  Partial<Pick<Item, 'parent_item_id' | 'path' | 'metadata' | 'key'>>;

/** A new Item's id. The id of its job belongs to this store. */
export function newItemId(leadsHere: LeadsHere): ItemId {
  return newId('item', (item) => leadsHere(jobOfItem(item)));
}

/** An Item before its file is read, with the facts found when opening it. */
export function pendingItem(origin: Origin, info: FileInfo): Item {
  const { pages, duration_s, width, height, title, charset, notSearchable, members } = info;
  const { id, name, bytes, sha256, created_at, expires_at, parent_item_id, path, metadata, key } = origin;
  return {
    id,
    name,
    media_type: info.mediaType,
    bytes,
    sha256,
    state: 'pending',
    families: [],
    segments: 0,
    created_at,
    expires_at,
    ...(parent_item_id !== undefined && { parent_item_id }),
    ...(path !== undefined && { path }),
    ...(key !== undefined && { key }),
    ...(metadata && { metadata }),
    ...(title !== undefined && { title }),
    ...(charset && { charset }),
    ...(pages !== undefined && { pages }),
    ...(duration_s !== undefined && { duration_s }),
    ...(members !== undefined && { members }),
    ...(notSearchable && { not_searchable: notSearchable }),
    ...(width !== undefined && { width }),
    ...(height !== undefined && { height }),
  };
}

/** The job of a searchable Item, once its row has been pruned. */
export function endedJob(tenant: TenantId, item: Item): Job {
  return {
    id: jobOfItem(item.id),
    tenant,
    item: item.id,
    state: 'searchable',
    progress: 1,
    segments: item.segments,
    ...(item.not_read && { not_read: item.not_read }),
    created_at: item.created_at,
    updated_at: item.created_at,
  };
}
