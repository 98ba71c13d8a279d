import { constants } from 'node:fs';
import { cp, lstat, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { syncFolder } from '@farthing/engine/shard/disposal';
import { makeFolder } from '../../state/make-folder.ts';

/** Belongs to one run of the server (LMDB's reader tables among them) and is not copied. */
const LEFT_OUT = new Set(['admin.sock', 'incoming', 'scratch', 'lock', 'lock.mdb']);

/**
 * In the data folder: signed transactions that are not final yet. The chain outruns any copy, and the ledger's open payments are settled
 * again after a restore, each at most once by its nonce.
 */
const GAS = 'gas';

/** Fills a new folder beside `target`, and moves it there once it is whole and on the disk. @throws Error when `target` exists or lies in `source` */
export async function inDraft<T>(
  source: string,
  target: string,
  fill: (draft: string) => Promise<T>,
): Promise<T> {
  const draft = await newDraft(source, target);
  try {
    const filled = await fill(draft);
    await finishDraft(draft, target);
    return filled;
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw error;
  }
}

/** Makes an empty folder for a copy of `source`; {@link finishDraft} gives it its name. @throws Error with what to do */
async function newDraft(source: string, target: string): Promise<string> {
  if (`${target}${sep}`.startsWith(`${source}${sep}`))
    throw new Error(`${target} lies in ${source}; name a folder elsewhere.`);
  if (await exists(target))
    throw new Error(`${target} exists already; name a new folder, for a restore by FARTHING_DATA_DIR.`);
  await makeFolder(dirname(target));
  const draft = join(dirname(target), `.${basename(target)}.draft`);
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { mode: 0o700 });
  return draft;
}

/** Copies a data folder without `except`, paths in it, and without what belongs to one run of the server. */
export async function copyRest(source: string, draft: string, except: readonly string[] = []): Promise<void> {
  const isCopied = (path: string) =>
    !LEFT_OUT.has(basename(path)) && !except.includes(relative(source, path));
  for (const name of await readdir(source)) {
    if (name === GAS || !isCopied(join(source, name))) continue;
    await cp(join(source, name), join(draft, name), {
      recursive: true,
      preserveTimestamps: true,
      mode: constants.COPYFILE_FICLONE,
      filter: isCopied,
    });
  }
}

/** Gives a copy its name once it is complete and on the disk. */
async function finishDraft(draft: string, target: string): Promise<void> {
  for (const entry of await readdir(draft, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (LEFT_OUT.has(entry.name)) await rm(path, { recursive: true });
    else await syncFolder(path);
  }
  await syncFolder(draft);
  await rename(draft, target);
  await syncFolder(dirname(target));
}

export async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
