import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Io } from '../terminal/io.ts';

/** Owner only: keys and tokens are stored here. */
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

/** A file in the user's configuration folder (XDG). */
export function configFile({ environment }: Pick<Io, 'environment'>, name: string): string {
  return join(
    environment.XDG_CONFIG_HOME || join(environment.HOME || homedir(), '.config'),
    'farthing',
    name,
  );
}

/** A file in the user's state folder (XDG). */
export function stateFile({ environment }: Pick<Io, 'environment'>, name: string): string {
  const home = environment.HOME || homedir();
  return join(environment.XDG_STATE_HOME || join(home, '.local', 'state'), 'farthing', name);
}

/** The parsed file; undefined when there is none. */
export async function readJson<T>(path: string): Promise<T | undefined> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  return text === undefined ? undefined : (JSON.parse(text) as T);
}

/** Replaces a file atomically; only its owner may read it. */
export async function writeJson(path: string, value: object): Promise<void> {
  await makeFolder(path);
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: FILE_MODE });
  await chmod(draft, FILE_MODE);
  await rename(draft, path);
}

/** Makes the folder of a file. */
export async function makeFolder(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: FOLDER_MODE });
}
