import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

const PREFIX = '.disposing-';

/** Syncs a folder's entries to the disk, so that files created or renamed in it survive a power cut. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Makes a folder and its missing parents, durably. */
export async function makeFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true });
  if (first === undefined) return;
  for (let made = folder; ; made = dirname(made)) {
    await syncFolder(dirname(made));
    if (made === first) return;
  }
}

/**
 * Unlinks a Tenant's folder durably. The rename is the point of no return: after it nothing finds the Tenant, and
 * {@link finishDisposals} completes the deletion if a crash interrupts it.
 */
export async function unlinkTenant(tenants: string, tenant: string): Promise<void> {
  const doomed = join(tenants, `${PREFIX}${tenant}`);
  await rm(doomed, { recursive: true, force: true });
  try {
    await rename(join(tenants, tenant), doomed);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  await syncFolder(tenants);
  await rm(doomed, { recursive: true, force: true });
  await syncFolder(tenants);
}

/** Unlinks what a crash left of disposed Tenants. @returns their ids */
export async function finishDisposals(tenants: string): Promise<string[]> {
  const doomed = (await readdir(tenants)).filter((name) => name.startsWith(PREFIX));
  for (const name of doomed) await rm(join(tenants, name), { recursive: true, force: true });
  if (doomed.length > 0) await syncFolder(tenants);
  return doomed.map((name) => name.slice(PREFIX.length));
}
