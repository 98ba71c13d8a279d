import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { native } from '@farthing/native';
import { bookFolders } from '../../state/book-folders.ts';
import { checkDataVersion } from '../../state/data-version.ts';
import { writeDurably } from '../../state/durable-file.ts';
import { openStore } from '../../state/store.ts';
import { BackupsTaken } from './backups-taken.ts';
import { copyRest, exists, inDraft } from './data-copy.ts';

/**
 * Works on the data folder of a stopped server and holds the folder's lock, so that none starts.
 * @returns undefined when a server runs over the folder. @throws Error with what to do
 */
export async function whileStopped<T>(data: string, work: () => Promise<T>): Promise<T | undefined> {
  await mustExist(data);
  const lock = native.lockFolder(data);
  if (!lock) return undefined;
  try {
    await checkDataVersion(data);
    return await work();
  } finally {
    lock.release();
  }
}

/** Copies the data folder of a stopped server. @returns false when a server runs over it */
export async function backUpStopped(data: string, target: string): Promise<boolean> {
  const done = await whileStopped(data, async () => {
    await noteBackup(data);
    await copyFolder(data, target);
    return true;
  });
  return done ?? false;
}

/** Makes a data folder from a backup. Payments and disposals after the backup are not in it. */
export async function restore(source: string, data: string): Promise<void> {
  await mustExist(join(source, 'version'));
  await checkDataVersion(source);
  await copyFolder(source, data);
  await writeDurably(join(data, RESTORED), `${new Date().toISOString()} from ${source}\n`);
}

/** In a folder that was made from a backup: when, and from which. */
const RESTORED = 'restored';

/** When a data folder was restored, and from where; undefined for one that was not. */
export async function restoredFrom(data: string): Promise<string | undefined> {
  const text = await readFile(join(data, RESTORED), 'utf8').catch(() => '');
  return text.trim() || undefined;
}

async function noteBackup(data: string): Promise<void> {
  for (const books of await bookFolders(data)) {
    const state = join(books, 'state');
    if (!(await exists(state))) continue;
    const store = openStore(state);
    try {
      await new BackupsTaken(store).note(Date.now());
    } finally {
      await store.close();
    }
  }
}

async function mustExist(path: string): Promise<void> {
  if (!(await exists(path))) throw new Error(`There is no ${path}.`);
}

function copyFolder(source: string, target: string): Promise<void> {
  return inDraft(source, target, (draft) => copyRest(source, draft));
}
