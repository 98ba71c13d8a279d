import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileFault } from '@farthing/cli/wording/file-fault';
import { assetOn } from '@farthing/payment/asset';
import { facilitatorUrl, SELF } from '@farthing/payment/facilitator/facilitators';
import {
  constantOf,
  FILE_VARIABLE,
  isSetting,
  isUnknownVariable,
  nearestVariable,
  PREFIX,
  variableOf,
} from './names.ts';
import { SETTING_NAMES, SETTINGS_BY_NAME, type SettingName, type Settings } from './settings.ts';

const DEFAULT_FILE = './farthing.json';

/** The settings cannot be used. The message has one line for each fault and says what to do. */
export class ConfigError extends Error {}

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the settings from the environment and from the JSON file that it names; the environment wins.
 * @throws ConfigError with every fault that was found
 */
export function readConfig(environment: Environment): Settings {
  const faults: string[] = [];
  const file = fileVariables(environment[FILE_VARIABLE], faults);
  for (const name of Object.keys(environment))
    if (isUnknownVariable(name)) faults.push(unknown(name, 'environment'));
  const settings: Partial<Record<SettingName, unknown>> = {};
  for (const name of SETTING_NAMES) {
    const variable = variableOf(name);
    const { read, initial } = SETTINGS_BY_NAME[name];
    const text = environment[variable] ?? file[variable] ?? initial;
    try {
      settings[name] = read(text);
    } catch (error) {
      faults.push(`${variable}=${JSON.stringify(text)}: ${(error as Error).message}`);
    }
  }
  if (faults.length === 0)
    faults.push(...contradictions(settings as Settings, environment.NODE_ENV === 'production'));
  if (faults.length > 0) {
    // A slip in a name may be the cause of a fault.
    const slips = configNotices(environment).map(({ variable, note }) => `${variable}: ${note}`);
    throw new ConfigError([...faults, ...slips].join('\n'));
  }
  return Object.freeze(settings as Settings);
}

/** A variable that the start can live with, and what to do about it. */
export interface ConfigNotice {
  readonly variable: string;
  readonly note: string;
}

/** Variables of an environment that look like slips in a setting's name, such as one without its prefix. They are not read. */
export function configNotices(environment: Environment): ConfigNotice[] {
  return Object.keys(environment)
    .filter((name) => !name.startsWith(PREFIX))
    .flatMap((variable) => {
      const meant = nearestVariable(variable);
      return meant === undefined
        ? []
        : [{ variable, note: `There is no such setting; did you mean ${meant}?` }];
    });
}

const unknown = (name: string, where: string) => {
  const constant = constantOf(name);
  if (constant !== undefined)
    return `${name}: this is no setting any more (in the ${where}); it is ${constant} now: leave it out`;
  const meant = nearestVariable(name);
  return `${name}: there is no such setting (in the ${where})${meant ? `; did you mean ${meant}?` : ''}`;
};

/** The content of the file of settings, by the names of the variables, whose prefix may be omitted there. */
function fileVariables(named: string | undefined, faults: string[]): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const [name, value] of Object.entries(readFile(named))) {
    const variable = isSetting(name) ? variableOf(name) : name;
    if (!isSetting(variable.replace(PREFIX, ''))) faults.push(unknown(name, 'file'));
    if (Object.hasOwn(variables, variable))
      faults.push(
        `${variable.replace(PREFIX, '')} and ${variable} are the same setting (in the file): leave out one`,
      );
    variables[variable] = String(value);
  }
  return variables;
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
    throw new ConfigError(
      fileFault({ ...(error as NodeJS.ErrnoException), path }) ?? `${path}: ${(error as Error).message}`,
    );
  }
  throw new ConfigError(`${path}: must hold one JSON object`);
}

/** A new leader of etcd takes about a second, and a renewal that is lost must be followed by another. */
const LEASE_SECONDS_MIN = 3;

function* contradictions(settings: Settings, production: boolean): Iterable<string> {
  const { FACILITATOR, ALLOW_PLAY_MONEY, PAY_TO } = settings;
  const isReal = FACILITATOR.length > 0;
  if (production && !isReal && ALLOW_PLAY_MONEY === '0')
    yield 'FARTHING_FACILITATOR: NODE_ENV=production needs a facilitator; the local one moves no money (FARTHING_ALLOW_PLAY_MONEY=1 allows it)';
  if (isReal && PAY_TO === '')
    yield 'FARTHING_PAY_TO: name the wallet that is paid; FARTHING_FACILITATOR needs it';
  const onTestnets = FACILITATOR.map(facilitatorUrl).find((url) =>
    /^https?:\/\/(www\.)?x402\.org(:|\/|$)/.test(url),
  );
  if (onTestnets !== undefined && !assetOn(settings.NETWORK).isTestnet)
    yield `FARTHING_FACILITATOR: ${onTestnets} settles on testnets alone: FARTHING_NETWORK=eip155:84532 sells there, for coins without value; for money name another facilitator`;
  if (settings.CONFIRM_SETTLEMENTS === '1' && settings.RPC_URL.length === 0)
    yield 'FARTHING_RPC_URL: name a node of the chain; FARTHING_CONFIRM_SETTLEMENTS needs it';
  yield* contradictionsOfSelf(settings);
  yield* contradictionsOfObjects(settings);
  const lease = settings.CLUSTER_LEASE_SECONDS;
  if (lease > 0 && settings.OBJECTS === '')
    yield 'FARTHING_OBJECTS: name an object store; FARTHING_CLUSTER_LEASE_SECONDS needs it: a server that takes over has nothing of this disk';
  if (lease > 0 && lease < LEASE_SECONDS_MIN)
    yield `FARTHING_CLUSTER_LEASE_SECONDS: must be 0, or at least ${LEASE_SECONDS_MIN}`;
  if (settings.NODE_URL !== '') {
    if (lease === 0)
      yield 'FARTHING_CLUSTER_LEASE_SECONDS: set it, 5 is a good value; FARTHING_NODE_URL needs it';
    if (settings.BASE_URL === '')
      yield 'FARTHING_BASE_URL: set the public address that all servers share; FARTHING_NODE_URL needs it';
  }
}

function* contradictionsOfSelf({ FACILITATOR, RPC_URL, GAS_KEY, GAS_KEY_FILE }: Settings): Iterable<string> {
  const isGiven = GAS_KEY !== '' || GAS_KEY_FILE !== '';
  if (!FACILITATOR.includes(SELF)) {
    if (isGiven) yield 'FARTHING_FACILITATOR: name self in it; FARTHING_GAS_KEY is for that alone';
    return;
  }
  if (RPC_URL.length === 0)
    yield 'FARTHING_RPC_URL: name a node of the chain; FARTHING_FACILITATOR=self settles through it';
  if (!isGiven)
    yield 'FARTHING_GAS_KEY_FILE: name the file with the key that pays the gas; FARTHING_FACILITATOR=self needs it (docs/get-paid.md)';
  if (GAS_KEY !== '' && GAS_KEY_FILE !== '')
    yield 'FARTHING_GAS_KEY: leave it out; FARTHING_GAS_KEY_FILE is set, too';
}

function* contradictionsOfObjects(settings: Settings): Iterable<string> {
  const { OBJECTS, CLUSTER } = settings;
  if (OBJECTS === '') return;
  if (CLUSTER === '') yield 'FARTHING_CLUSTER: name the etcd of the books; FARTHING_OBJECTS needs it';
  const needs = [
    ['CLUSTER_KEY', 'CLUSTER_KEY_FILE'],
    ...(OBJECTS.startsWith('s3:') ? [['OBJECTS_SECRET', 'OBJECTS_SECRET_FILE'] as const] : []),
  ] as const;
  for (const [inline, file] of needs)
    if ((settings[inline] === '') === (settings[file] === ''))
      yield `FARTHING_${inline}: FARTHING_OBJECTS needs either this or FARTHING_${file}`;
  if (OBJECTS.startsWith('s3:') && settings.OBJECTS_KEY_ID === '')
    yield 'FARTHING_OBJECTS_KEY_ID: FARTHING_OBJECTS needs the id of an access key';
}
