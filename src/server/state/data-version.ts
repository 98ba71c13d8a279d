import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '../settings/config.ts';
import { writeDurably } from './durable-file.ts';

/** Incremented when older servers can no longer read the data folder. */
export const DATA_VERSION = 1;
const FILE = 'version';

/** Writes the version into a folder that has none (a new one, one of version 1, or an empty file that a power cut left). @throws ConfigError for a newer version */
export async function checkDataVersion(data: string): Promise<void> {
  const path = join(data, FILE);
  const found = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (found === undefined || found === '') return writeDurably(path, `${DATA_VERSION}\n`);
  const version = Number(found);
  if (Number.isInteger(version) && version >= 1 && version <= DATA_VERSION) return;
  throw new ConfigError(
    `FARTHING_DATA_DIR=${data}: it has version ${found.trim().slice(0, 20)}, and this Farthing reads up to ${DATA_VERSION}; use a newer one`,
  );
}
