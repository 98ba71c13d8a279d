import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '../settings/config.ts';
import { writeDurably } from './durable-file.ts';
import { makeFolder } from './make-folder.ts';

/** Hexadecimal digits of the digest that choose a slot: 48 bits, exact in a number. */
const DIGITS = 12;
const FOLDER = 'slots';
const COUNT = 'count';
const FOLDER_MODE = 0o700;

/** The slot, from 0, that an id leads to: the first 48 bits of its SHA-256, modulo the number of slots. */
export function slotOf(id: string, slots: number): number {
  return slots === 1 ? 0 : Number.parseInt(hash('sha256', id).slice(0, DIGITS), 16) % slots;
}

/**
 * The folders of a data folder's slots, by slot. One slot lies in the data folder itself; several have a folder each in `slots`, with
 * their number beside them.
 */
export async function slotFolders(data: string): Promise<string[]> {
  return foldersOf(data, (await keptCount(data)) ?? 1);
}

/** As `slotFolders`; makes those of a new data folder. @throws ConfigError when the folder has another number of slots */
export async function claimSlotFolders(data: string, slots: number): Promise<string[]> {
  const kept = (await keptCount(data)) ?? (existsSync(join(data, 'state')) ? 1 : undefined);
  if (kept !== undefined && kept !== slots)
    throw new ConfigError(
      `FARTHING_SLOTS=${slots}: ${data} was made with ${kept}, and cannot have another number`,
    );
  const folders = foldersOf(data, slots);
  if (slots === 1) return folders;
  for (const folder of folders) await makeFolder(folder, FOLDER_MODE);
  if (kept === undefined) await writeDurably(join(data, FOLDER, COUNT), `${slots}\n`);
  return folders;
}

async function keptCount(data: string): Promise<number | undefined> {
  const text = await readFile(join(data, FOLDER, COUNT), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  return text === undefined ? undefined : Number(text);
}

function foldersOf(data: string, slots: number): string[] {
  if (slots === 1) return [data];
  return Array.from({ length: slots }, (_, slot) => join(data, FOLDER, String(slot)));
}
