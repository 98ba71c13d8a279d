import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { SETTINGS, type SettingName, type Settings } from './settings.ts';

/** Optional file of settings: a JSON object with the same names. */
const DEFAULT_FILE = './farthing.json';
const FILE_VARIABLE = 'FARTHING_CONFIG';

/** Environment variables with these beginnings are meant for us: an unknown one is a slip of the pen. */
const OWN_PREFIXES = [
  'FARTHING_',
  'WORKSPACE_',
  'X402_',
  'FACILITATOR_',
  'LOCAL_',
  'PAYER_',
  'ANSWER_',
  'ADMIN_',
];
/** Names that other parts read. */
const OTHER_NAMES = new Set([
  FILE_VARIABLE,
  'FARTHING_KERNEL',
  // The commands of an agent.
  'FARTHING_URL',
  'FARTHING_WALLET',
  'FARTHING_BUDGET_USD',
  'FARTHING_MAX_PRICE_USD',
]);

export class ConfigError extends Error {}

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads, checks and freezes the configuration. @throws ConfigError with one line per fault. */
export function readConfig(environment: Environment): Settings {
  const file = readFile(environment[FILE_VARIABLE]);
  const faults = [...unknownNames(environment, file)];
  const settings: Partial<Record<SettingName, unknown>> = {};
  for (const [name, { read, initial }] of Object.entries(SETTINGS)) {
    const source = environment[name] ?? file[name];
    try {
      settings[name as SettingName] = read(source === undefined ? initial : String(source));
    } catch (error) {
      faults.push(`${name}=${JSON.stringify(source)}: ${(error as Error).message}`);
    }
  }
  if (faults.length === 0)
    faults.push(...contradictions(settings as Settings, environment.NODE_ENV === 'production'));
  if (faults.length > 0) throw new ConfigError(faults.join('\n'));
  return Object.freeze(settings as Settings);
}

function readFile(named: string | undefined): Record<string, unknown> {
  const path = resolve(named ?? DEFAULT_FILE);
  if (!existsSync(path)) {
    if (named !== undefined) throw new ConfigError(`${FILE_VARIABLE}: there is no file ${path}`);
    return {};
  }
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch (error) {
    throw new ConfigError(`${path}: ${(error as Error).message}`);
  }
  throw new ConfigError(`${path}: must hold one JSON object`);
}

function* unknownNames(environment: Environment, file: Record<string, unknown>): Iterable<string> {
  for (const name of Object.keys(file)) {
    if (!Object.hasOwn(SETTINGS, name)) yield `${name}: there is no such setting (in the file)`;
  }
  for (const name of Object.keys(environment)) {
    const ours = OWN_PREFIXES.some((prefix) => name.startsWith(prefix));
    if (ours && !Object.hasOwn(SETTINGS, name) && !OTHER_NAMES.has(name)) {
      yield `${name}: there is no such setting (in the environment)`;
    }
  }
}

function* contradictions(settings: Settings, production: boolean): Iterable<string> {
  if (production && settings.FACILITATOR_URL === '' && settings.ALLOW_PLAY_MONEY === '0') {
    yield 'FACILITATOR_URL: with NODE_ENV=production name a facilitator; the local one moves no money (ALLOW_PLAY_MONEY=1 allows it)';
  }
  if (settings.WORKSPACE_TTL_MINUTES_MIN > settings.WORKSPACE_TTL_MINUTES_MAX) {
    yield 'WORKSPACE_TTL_MINUTES_MIN: must not be above WORKSPACE_TTL_MINUTES_MAX';
  }
  if (settings.FACILITATOR_URL !== '' && settings.PAY_TO === '') {
    yield 'PAY_TO: name the wallet that is paid; FACILITATOR_URL needs it';
  }
}
