import type { FileInfo } from '../../domain/document.ts';
import { jobOfItem, newId, type TenantId } from '../../domain/id.ts';
import type { Item } from '../../domain/item.ts';
import type { Job } from '../../domain/job.ts';

type Origin = Pick<Item, 'name' | 'bytes' | 'sha256' | 'created_at' | 'expires_at'> &
  Partial<Pick<Item, 'id' | 'parent_item_id' | 'path'>>;

/** An Item before its file is read: what is known of it since it was opened. */
export function pendingItem(origin: Origin, opened: FileInfo): Item {
  const { pages, duration_s, width, height, title, notSearchable, members } = opened;
  const { id = newId('item'), name, bytes, sha256, created_at, expires_at, parent_item_id, path } = origin;
  return {
    id,
    name,
    media_type: opened.mediaType,
    bytes,
    sha256,
    state: 'pending',
    families: [],
    segments: 0,
    created_at,
    expires_at,
    ...(parent_item_id !== undefined && { parent_item_id }),
    ...(path !== undefined && { path }),
    ...(title !== undefined && { title }),
    ...(pages !== undefined && { pages }),
    ...(duration_s !== undefined && { duration_s }),
    ...(members !== undefined && { members }),
    ...(notSearchable && { not_searchable: notSearchable }),
    ...(width !== undefined && { width }),
    ...(height !== undefined && { height }),
  };
}

/** What is to be said of a job whose row is no longer kept. */
export function endedJob(tenant: TenantId, item: Item): Job {
  return {
    id: jobOfItem(item.id),
    tenant,
    item: item.id,
    state: 'searchable',
    progress: 1,
    segments: item.segments,
    created_at: item.created_at,
    updated_at: item.created_at,
  };
}
