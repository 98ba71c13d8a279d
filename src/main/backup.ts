import { constants } from 'node:fs';
import { cp, lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { native } from '../native/index.ts';
import { checkDataVersion } from './data-version.ts';

/** Of one run of the server, LMDB's tables of readers among them; a copy has no use for them. */
const LEFT_OUT = new Set(['admin.sock', 'incoming', 'scratch', 'lock', 'lock.mdb']);

/**
 * Copies a data folder. The folder's lock is held meanwhile, so that no server changes anything: one moment of all parts.
 * The copy takes its name when it is whole and on the disk. @throws Error with what to do.
 */
export async function backUp(data: string, target: string): Promise<void> {
  await mustExist(data);
  const lock = native.lockFolder(data);
  if (!lock)
    throw new Error(
      `A server is running over ${data}. Stop it first: a copy of a moving folder would not fit together.`,
    );
  try {
    await checkDataVersion(data);
    await copyFolder(data, target);
  } finally {
    lock.release();
  }
}

/** Makes a data folder from a backup. What was paid for or disposed of after the backup is not in it. */
export async function restore(source: string, data: string): Promise<void> {
  await mustExist(join(source, 'version'));
  await checkDataVersion(source);
  await copyFolder(source, data);
}

async function mustExist(path: string): Promise<void> {
  if (!(await exists(path))) throw new Error(`There is no ${path}.`);
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

async function copyFolder(source: string, target: string): Promise<void> {
  if (await exists(target)) throw new Error(`${target} exists already; name a new folder.`);
  await mkdir(dirname(target), { recursive: true });
  const draft = join(dirname(target), `.${basename(target)}.draft`);
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { mode: 0o700 });
  for (const name of await readdir(source)) {
    if (LEFT_OUT.has(name)) continue;
    await cp(join(source, name), join(draft, name), {
      recursive: true,
      preserveTimestamps: true,
      mode: constants.COPYFILE_FICLONE,
      filter: (path) => !LEFT_OUT.has(basename(path)),
    });
  }
  await syncAll(draft);
  await rename(draft, target);
  await sync(dirname(target));
}

async function syncAll(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }))
    await sync(join(entry.parentPath, entry.name));
  await sync(folder);
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
