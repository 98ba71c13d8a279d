import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '../settings/config.ts';
import { writeDurably } from './durable-file.ts';
import { makeFolder } from './make-folder.ts';

/** Hexadecimal digits of the digest that choose the store: 48 bits, exact in a number. */
const DIGITS = 12;
const FOLDER = 'slots';
const COUNT = 'count';
const FOLDER_MODE = 0o700;

/** Number of the store, from 0, that an id belongs to: the first 48 bits of its SHA-256, modulo the number of stores. */
export function leadsTo(id: string, count: number): number {
  return count === 1 ? 0 : Number.parseInt(hash('sha256', id).slice(0, DIGITS), 16) % count;
}

/**
 * The folders of a data folder's stores, in order. A single store lies in the data folder itself; several, as servers that share them
 * have, have a folder each in `slots`, with their count beside them.
 */
export async function bookFolders(data: string): Promise<string[]> {
  return foldersOf(data, (await keptCount(data)) ?? 1);
}

/** Like `bookFolders`; creates them in a new data folder. @throws ConfigError when the folder has another number of them */
export async function claimBookFolders(data: string, count: number): Promise<string[]> {
  const kept = (await keptCount(data)) ?? (existsSync(join(data, 'state')) ? 1 : undefined);
  if (kept !== undefined && kept !== count)
    throw new ConfigError(
      `FARTHING_SLOTS=${count}: ${data} was made with ${kept}, and cannot have another number`,
    );
  const folders = foldersOf(data, count);
  if (count === 1) return folders;
  for (const folder of folders) await makeFolder(folder, FOLDER_MODE);
  if (kept === undefined) await writeDurably(join(data, FOLDER, COUNT), `${count}\n`);
  return folders;
}

async function keptCount(data: string): Promise<number | undefined> {
  const text = await readFile(join(data, FOLDER, COUNT), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  return text === undefined ? undefined : Number(text);
}

function foldersOf(data: string, count: number): string[] {
  if (count === 1) return [data];
  return Array.from({ length: count }, (_, number) => join(data, FOLDER, String(number)));
}
