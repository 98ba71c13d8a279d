import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { FarthingError } from '../../domain/error.ts';
import type { ItemId, TenantId } from '../../domain/id.ts';
import type { StoredFiles } from '../ports/ports.ts';

/** Files that lie in the Tenants' folders, and nowhere else. */
export function filesIn(tenants: { folder(tenant: TenantId): string }): StoredFiles {
  const place = (tenant: TenantId, item: ItemId) => fileOf(tenants.folder(tenant), item);
  return {
    place,
    keep: async (tenant, item, from, after) => {
      await after;
      await keepFile(from, place(tenant, item));
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

/** Moves a received file to its place. Once it resolves, bytes and name are durable. @throws storage_full. */
export async function keepFile(from: string, to: string): Promise<void> {
  try {
    await sync(from);
    await mkdir(dirname(to), { recursive: true, mode: 0o700 });
    await rename(from, to);
    await sync(dirname(to));
  } catch (error) {
    if (!isStorageFull(error)) throw error;
    throw new FarthingError('storage_full', 'There is no room for the file. Try again later.', {
      retryAfterS: 60,
      cause: error,
    });
  }
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
