import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '../settings/config.ts';

/** Goes up when an older server could no longer read the data folder. */
export const DATA_VERSION = 1;
const FILE = 'version';

/** Marks a new data folder with the version; one without a mark is of the first. @throws ConfigError for a newer one. */
export async function checkDataVersion(data: string): Promise<void> {
  const path = join(data, FILE);
  const found = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (found === undefined) return writeFile(path, `${DATA_VERSION}\n`);
  const version = Number(found);
  if (Number.isInteger(version) && version >= 1 && version <= DATA_VERSION) return;
  throw new ConfigError(
    `FARTHING_DATA_DIR=${data}: it is of version ${found.trim().slice(0, 20)}, and this Farthing reads up to ${DATA_VERSION}; use a newer one`,
  );
}
