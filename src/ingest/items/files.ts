import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { FarthingError } from '../../domain/error.ts';
import type { ItemId, TenantId } from '../../domain/id.ts';
import type { StoredFiles } from '../ports/ports.ts';

/** Files that lie in the Tenants' folders. @param areCopies whether one whose name a power cut takes is fetched again */
export function filesIn(
  tenants: { folder(tenant: TenantId): string },
  { areCopies = false } = {},
): StoredFiles {
  const place = (tenant: TenantId, item: ItemId) => fileOf(tenants.folder(tenant), item);
  return {
    place,
    keep: async (tenant, item, from, after) => {
      // What is moved is on the disk: that takes as long as what it waits for.
      await Promise.all([after, synced(from)]);
      await moveFile(from, place(tenant, item), { durably: !areCopies });
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

/** @throws storage_full. */
function synced(path: string): Promise<void> {
  return sync(path).catch(asNoRoom);
}

/** Moves a file to its place. @param durably whether its name is on the disk once it resolves @throws storage_full. */
async function moveFile(from: string, to: string, { durably }: { durably: boolean }): Promise<void> {
  try {
    await mkdir(dirname(to), { recursive: true, mode: 0o700 });
    await rename(from, to);
    if (durably) await sync(dirname(to));
  } catch (error) {
    asNoRoom(error);
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

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
