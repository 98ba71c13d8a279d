import { join } from 'node:path';
import { UsageError } from '@farthing/cli/commands/command-set';
import { DAY_MS, HOUR_MS, systemClock } from '@farthing/protocol/clock';
import { RIGHTS, type Right } from '@farthing/protocol/house';
import { parseId, type WorkspaceId } from '@farthing/protocol/id';
import { bookFolders } from '../../state/book-folders.ts';
import { openStore } from '../../state/store.ts';
import { HouseKeys, type KeyTerms } from '../../workspace/house/house-keys.ts';
import { whileStopped } from '../backup/stopped-backup.ts';
import { type CommandIo, dataFolder, EXIT, settingsOf } from '../io.ts';
import { ALONE, askKeys, type KeysAnswer, type NewKeyAnswer } from '../running/house-key-calls.ts';
import { askServer, HOUSE_KEYS_PATH } from '../running/operator-socket.ts';
import { readTime } from './ledger.ts';

interface KeyValues {
  readonly may?: string | undefined;
  readonly workspaces?: string | undefined;
  readonly expires?: string | undefined;
  readonly 'per-minute'?: string | undefined;
}

/** Writes the key: nothing shows it again. @throws UsageError */
export async function createKey(name: string, values: KeyValues, io: CommandIo): Promise<number> {
  const terms = { name, ...termsOf(values) };
  const { key } = await ask<NewKeyAnswer>('POST', io, name, terms);
  io.write(`${key}\n`);
  io.explain(`${name} may ${terms.may}. The key is shown here alone: FARTHING_KEY=… gives it to an agent.`);
  return EXIT.done;
}

/** Writes a line for each key. */
export async function listKeys(io: CommandIo): Promise<number> {
  const { keys } = await ask<KeysAnswer>('GET', io);
  const widest = Math.max(0, ...keys.map(({ name }) => name.length));
  for (const { name, may, workspaces, expires_at, per_minute } of keys) {
    const isOver = expires_at !== null && Date.parse(expires_at) <= Date.now();
    const cells = [
      name.padEnd(widest),
      may.padEnd(5),
      isOver ? `expired ${expires_at}` : expires_at === null ? 'no end' : `until ${expires_at}`,
      per_minute === null ? 'no limit' : `${per_minute} a minute`,
      workspaces?.join(',') ?? 'all',
    ];
    io.write(`${cells.join('  ')}\n`);
  }
  return EXIT.done;
}

/** The next request with the key is refused. */
export async function revokeKey(name: string, io: CommandIo): Promise<number> {
  await ask('DELETE', io, name);
  io.explain(`${name} is revoked.`);
  return EXIT.done;
}

/** Asks the running server; a stopped one's state is opened. */
async function ask<T>(
  method: 'GET' | 'POST' | 'DELETE',
  io: CommandIo,
  name?: string,
  terms?: KeyTerms,
): Promise<T> {
  const data = dataFolder(io);
  const { CLUSTER, SLOTS } = settingsOf(io);
  if (CLUSTER !== '' || SLOTS !== 1) throw new Error(ALONE);
  const json = terms && JSON.stringify(terms);
  const done = await whileStopped(data, async () => {
    const [folder, ...others] = await bookFolders(data);
    if (others.length > 0) throw new Error(ALONE);
    const store = openStore(join(folder!, 'state'));
    try {
      const keys = new HouseKeys({ store, clock: systemClock, log: () => undefined });
      return await askKeys(keys, { method, name, terms: json ?? null });
    } finally {
      await store.close();
    }
  });
  const path = `/${HOUSE_KEYS_PATH}${name === undefined ? '' : `/${encodeURIComponent(name)}`}`;
  const query = json === undefined ? '' : `?terms=${encodeURIComponent(json)}`;
  return (done as T | undefined) ?? askServer<T>(data, method, path + query);
}

/** @throws UsageError that names the option */
function termsOf({
  may = 'read',
  workspaces,
  expires,
  'per-minute': perMinute,
}: KeyValues): Omit<KeyTerms, 'name'> {
  if (!RIGHTS.includes(may as Right))
    throw new UsageError(`--may is one of ${RIGHTS.join(', ')}, not "${may}".`);
  return {
    may: may as Right,
    ...(workspaces !== undefined && { workspaces: workspaces.split(',').map(workspaceOf) }),
    ...(expires !== undefined && { expiresAt: endOf(expires) }),
    ...(perMinute !== undefined && { perMinute: numberOf(perMinute) }),
  };
}

function workspaceOf(text: string): WorkspaceId {
  const id = parseId('workspace', text.trim());
  if (!id) throw new UsageError(`--workspaces: "${text}" is no id of a workspace, such as ws_1f….`);
  return id;
}

const UNITS_MS: Readonly<Record<string, number>> = { h: HOUR_MS, d: DAY_MS };
const YEARS_MAX_MS = 100 * 365 * DAY_MS;

/** @returns milliseconds since the epoch */
function endOf(text: string): number {
  const [, count, unit] = /^(\d{1,6})([hd])$/.exec(text) ?? [];
  const end = count === undefined ? readTime(text) : Date.now() + Number(count) * UNITS_MS[unit!]!;
  if (end === undefined || end > Date.now() + YEARS_MAX_MS)
    throw new UsageError(`--expires: "${text}" is no date, no time with its zone, and no 12h or 90d.`);
  if (end <= Date.now()) throw new UsageError(`--expires: ${text} is over.`);
  return end;
}

function numberOf(text: string): number {
  const value = Number(text);
  if (/^\d{1,6}$/.test(text) && value >= 1) return value;
  throw new UsageError(`--per-minute: "${text}" is not a whole number from 1 to 999999.`);
}
