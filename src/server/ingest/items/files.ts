import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { FarthingError } from '@farthing/protocol/error';
import type { ItemId, TenantId } from '@farthing/protocol/id';
import type { StoredFiles } from '../ports/ports.ts';
import { FolderSyncs, synced } from './durable.ts';

/** Files in the Tenants' folders. @param areCopies whether files lost in a power cut can be fetched again, so that folders need no sync */
export function filesIn(
  tenants: { folder(tenant: TenantId): string },
  { areCopies = false } = {},
): StoredFiles {
  const folders = new FolderSyncs();
  const place = (tenant: TenantId, item: ItemId) => fileOf(tenants.folder(tenant), item);
  return {
    place,
    keep: async (tenant, item, from, after) => {
      const to = place(tenant, item);
      try {
        // Synced while `after` is pending, so that the move needs no further wait.
        await Promise.all([after, synced(from)]);
        const isNew = await moveFile(from, to);
        if (areCopies) return;
        if (isNew) await folders.sync(tenants.folder(tenant));
        await folders.sync(dirname(to));
      } catch (error) {
        asNoRoom(error);
      }
    },
    keepPlaced: async () => undefined,
    path: async (tenant, item) => place(tenant, item),
    remove: (tenant, item) => removeFile(place(tenant, item)),
  };
}

/** Path of an Item's bytes in its Tenant's folder. */
export function fileOf(tenantFolder: string, item: ItemId): string {
  return join(tenantFolder, 'files', item);
}

/** @returns whether the folder had to be made */
async function moveFile(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return false;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    await mkdir(dirname(to), { recursive: true, mode: 0o700 });
    await rename(from, to);
    return true;
  }
}

function asNoRoom(error: unknown): never {
  if (!isStorageFull(error)) throw error;
  throw new FarthingError('storage_full', 'There is no room for the file. Try again later.', {
    retryAfterS: 60,
    cause: error,
  });
}

export async function removeFile(path: string): Promise<void> {
  await rm(path, { force: true });
}

export function isStorageFull(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  return code === 'ENOSPC' || code === 'EDQUOT';
}
