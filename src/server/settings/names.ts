import { slipsBetween } from '@farthing/protocol/nearest';
import { SETTING_NAMES, SETTINGS_BY_NAME, type SettingName } from './settings.ts';

/** Every variable that is ours begins so. */
export const PREFIX = 'FARTHING_';

/** The environment variable that gives a setting. */
export function variableOf(setting: SettingName): `FARTHING_${SettingName}` {
  return `${PREFIX}${setting}`;
}

/** The variable that names the file of settings. */
export const FILE_VARIABLE = 'FARTHING_CONFIG';

/** Variables with the prefix that are no settings of the server. */
const OTHER_VARIABLES: ReadonlySet<string> = new Set([
  FILE_VARIABLE,
  // Read by the native part.
  'FARTHING_KERNEL',
  'FARTHING_ENCODER_KERNEL',
  // Read by the commands of an agent.
  'FARTHING_URL',
  'FARTHING_WALLET',
  'FARTHING_BUDGET_USD',
  'FARTHING_MAX_PRICE_USD',
  'FARTHING_KEY',
  'FARTHING_WORKSPACE',
]);

/** Facilitator names that are not read. They stop the start: the server must not silently fall back to play money. */
const UNREAD: Readonly<Record<string, SettingName>> = {
  FACILITATOR: 'FACILITATOR',
  FACILITATOR_URL: 'FACILITATOR',
  FACILITATOR_VERIFY_URLS: 'FACILITATOR',
  FACILITATOR_TOKEN: 'FACILITATOR_HEADER',
};

/** Former settings that no operator could judge: what each is now. */
const CONSTANTS: Readonly<Record<string, string>> = {
  ANSWER_KEEP_MINUTES: '15',
  ARCHIVE_BYTES_MAX: '512 MiB',
  ARCHIVE_MEMBERS_MAX: '1000',
  BODY_BYTES_PER_SECOND_MIN: '16384',
  DOWNTIME_REFUND_MINUTES_MAX: '1440',
  INGEST_QUEUE_MAX: '1024',
  JOURNAL_ENTRIES_MAX: '10 million',
  PAGES_MAX: '5000',
  PIXELS_MAX: '100 million',
  PREPAID_DAYS: '90',
  PREVIOUS_MODEL_DAYS: '30',
  QUERY_QUEUE_MAX: '256',
  RECALL_PROBE: '200',
  SEARCH_BODY_BYTES_MAX: '16 MiB',
  SEGMENTS_PER_ITEM_MAX: '100,000',
  SETTLEMENT_WAIT_SECONDS_MAX: '12',
  TENANT_INGESTS_AT_ONCE: '16',
  TENANT_SEARCHES_AT_ONCE: '64, or an eighth of FARTHING_TENANT_REQUESTS_PER_SECOND where that is more,',
  TENANT_STREAMS_AT_ONCE: '64',
  WORKSPACE_TTL_MINUTES_MAX: '1440, or FARTHING_WORKSPACE_TTL_TOTAL_MINUTES_MAX where that is less,',
  WORKSPACE_TTL_MINUTES_MIN: '1',
};

/** The value that a former setting has for good, by its variable or its name; undefined for any other. */
export function constantOf(variable: string): string | undefined {
  const name = variable.replace(PREFIX, '');
  return Object.hasOwn(CONSTANTS, name) ? CONSTANTS[name] : undefined;
}

export function isSetting(name: string): name is SettingName {
  return Object.hasOwn(SETTINGS_BY_NAME, name);
}

/** True for a variable that claims to be ours and is unknown, or is known by another name. */
export function isUnknownVariable(variable: string): boolean {
  if (Object.hasOwn(UNREAD, variable)) return true;
  if (!variable.startsWith(PREFIX) || OTHER_VARIABLES.has(variable)) return false;
  return !isSetting(variable.slice(PREFIX.length));
}

/** Slips that are taken for a setting's name: two, and in a short name one, or `HOME` would pass for `HOST`. */
const SLIPS_MAX = 2;
const SHORT_LENGTH = 5;
/** Ends of settings' names that a hurried hand leaves out: `SEARCH_PRICE`. */
const UNITS = /_(?:USD|MS|SECONDS|MINUTES|BYTES)(?:_M(?:AX|IN))?$/;

/**
 * The variable of the setting whose name, with the prefix or without it, is nearest to this one.
 * @returns undefined where none is near
 */
export function nearestVariable(name: string): string | undefined {
  const written = name.toUpperCase();
  const unread = UNREAD[written.replace(PREFIX, '')];
  if (unread !== undefined) return variableOf(unread);
  const withoutUnit = SETTING_NAMES.find(
    (setting) => UNITS.test(setting) && setting.replace(UNITS, '') === written.replace(PREFIX, ''),
  );
  if (withoutUnit !== undefined) return variableOf(withoutUnit);
  let nearest: { readonly variable: string; readonly slips: number } | undefined;
  for (const setting of SETTING_NAMES) {
    const variable = variableOf(setting);
    for (const known of [setting, variable]) {
      if (Math.abs(written.length - known.length) > SLIPS_MAX) continue;
      const slips = slipsBetween(written, known);
      const allowed = known.length < SHORT_LENGTH ? 1 : SLIPS_MAX;
      if (slips <= allowed && slips < (nearest?.slips ?? Infinity)) nearest = { variable, slips };
    }
  }
  return nearest?.variable;
}
