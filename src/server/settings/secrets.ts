import { readFile } from 'node:fs/promises';
import { ConfigError } from './config.ts';
import type { Settings } from './settings.ts';

type Secret =
  | 'CLUSTER_KEY'
  | 'CLUSTER_PASSWORD'
  | 'OBJECTS_SECRET'
  | 'FACILITATOR_HEADER'
  | 'CDP_KEY_SECRET'
  | 'PAYAI_KEY_SECRET'
  | 'GAS_KEY';
type NamedFile =
  | `${Secret}_FILE`
  | 'CLUSTER_CA_FILE'
  | 'CLUSTER_CERT_FILE'
  | 'CLUSTER_CERT_KEY_FILE'
  | 'NODE_CA_FILE';

/** A secret that a setting holds, or the file that another one names. @throws ConfigError for a file that cannot be read */
export async function secretOf(settings: Settings, name: Secret): Promise<string> {
  return ((await fileOf(settings, `${name}_FILE`)) ?? settings[name]).trim();
}

/** Content of the file that a setting names; undefined where it names none. @throws ConfigError for one that cannot be read */
export async function fileOf(settings: Settings, name: NamedFile): Promise<string | undefined> {
  const path = settings[name];
  if (path === '') return undefined;
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new ConfigError(`FARTHING_${name}: ${(error as Error).message}`);
  }
}
