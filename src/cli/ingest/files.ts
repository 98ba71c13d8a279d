import type { Dirent } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { UsageError } from '../commands/command-set.ts';

export interface FoundFile {
  /** Its path, as it was named. */
  readonly source: string;
  readonly name: string;
  readonly bytes: number;
  /** Path, size and time of change: a changed file has another key. */
  readonly key: string;
}

/** The files that paths name, in order; each once. @throws UsageError for missing paths, and for a folder that is not accepted */
export async function filesIn(paths: readonly string[], recursive: boolean): Promise<FoundFile[]> {
  const files = new Map<string, FoundFile>();
  for (const path of paths) for (const file of await filesAt(path, recursive)) files.set(file.key, file);
  return [...files.values()];
}

async function filesAt(path: string, recursive: boolean): Promise<FoundFile[]> {
  const info = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? new UsageError(`There is no ${path}.`) : error;
  });
  if (!info.isDirectory()) return [await foundFile(path, info)];
  if (!recursive) throw new UsageError(`${path} is a folder: --recursive (-r) takes what is in it.`);
  const entries: Dirent[] = await readdir(path, { recursive: true, withFileTypes: true });
  const inside = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const shown = inside.filter((file) => !isHidden(relative(path, file))).toSorted();
  return Promise.all(shown.map(async (file) => foundFile(file, await stat(file))));
}

async function foundFile(
  source: string,
  { size, mtimeMs }: { size: number; mtimeMs: number },
): Promise<FoundFile> {
  const key = `${await realpath(source)}\u0000${size}\u0000${mtimeMs}`;
  return { source, name: source.split('/').at(-1)!, bytes: size, key };
}

/** True for files such as those in `.git`. */
function isHidden(path: string): boolean {
  return path.split('/').some((part) => part.startsWith('.'));
}

/** Path of a key's file. */
export function pathOfKey(key: string): string {
  return key.split('\u0000')[0]!;
}
