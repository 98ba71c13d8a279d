import { FarthingError } from '@farthing/client';
import { counted, usdText } from '@farthing/protocol/figures';
import { factsOf } from '@farthing/protocol/schema/facts';
import { SHOWN_FIELDS } from '@farthing/protocol/schema/shown-fields';
import {
  type Access,
  type AccessValues,
  explainSpending,
  houseKeyOf,
  inWorkspace,
  openAccess,
  serverOf,
} from '../access/access.ts';
import { amountOf } from '../access/consent.ts';
import {
  type End,
  type EndedWorkspace,
  type KnownWorkspace,
  makeCurrent,
  notRemembered,
  readMemory,
  remember,
  useNone,
} from '../access/workspace-memory.ts';
import { UsageError } from '../commands/command-set.ts';
import { durationText, timeText, VOICE } from '../terminal/figures.ts';
import { EXIT, type Io } from '../terminal/io.ts';
import { ask, fitted, say } from '../terminal/say.ts';
import { aligned } from '../terminal/table.ts';
import { clean, widthOf } from '../wording/text.ts';
import type { Call } from '../words/specs.ts';

/** `workspace create` */
export async function workspaceCreate({ values }: Call<'workspace create'>, io: Io): Promise<number> {
  const limit = values['spend-limit'];
  if (limit !== undefined) amountOf('spend-limit', limit);
  const access = await openAccess({ ...values, 'no-workspace': true }, io);
  if (houseKeyOf(io) !== undefined) {
    if (values.minutes !== undefined || limit !== undefined)
      throw new UsageError('A workspace of the house (FARTHING_KEY) has no end and no price.');
    const { id } = await access.client.house.create({ name: values.name, language: values.language });
    show(values.json, io, { id, house: true }, `${id}: it stays until it is disposed of`);
    return EXIT.done;
  }
  if (values.name !== undefined)
    throw new UsageError('--name is for a workspace of the house, which FARTHING_KEY opens.');
  const ttlMinutes = await sellableMinutes(values.minutes, access, io);
  const { workspace, record } = await access.client.workspaces.rent({
    ttlMinutes,
    spendLimitUsd: limit,
    language: values.language,
    signal: io.signal,
  });
  const { id, token } = workspace;
  const { expires_at, ttl_minutes, ttl_minutes_asked } = record;
  await makeCurrent(io, id, { server: access.client.baseUrl, token, expires_at });
  const difference =
    ttl_minutes_asked === null || ttl_minutes_asked === ttl_minutes
      ? ''
      : ` (you asked for ${ttl_minutes_asked})`;
  show(
    values.json,
    io,
    { ...record },
    `${id}: yours for ${counted(ttl_minutes, 'minute')}${difference}, until ${timeText(expires_at)}`,
  );
  explainSpending(access, io);
  if (io.err && !values.json)
    say(
      io,
      'Files and searches inside are included. It is the current workspace now: "farthing ingest FILES" fills it.',
    );
  return EXIT.done;
}

/** `workspace use ID [TOKEN] | none` */
export async function workspaceUse({ words, values }: Call<'workspace use'>, io: Io): Promise<number> {
  const [id = '', token] = words;
  const memory = await readMemory(io);
  const named = serverOf(values, io, memory);
  if (id === 'none') {
    await useNone(io, named);
    if (!values.json) say(io, `Calls to ${named} are paid one by one now: there is no current workspace.`);
    return EXIT.done;
  }
  const workspace = token === undefined ? memory.known[id] : { server: named, token };
  if (!workspace) throw notRemembered(id);
  if ('ended' in workspace) throw new UsageError(`The workspace ${id} has ended.`);
  await makeCurrent(io, id, workspace);
  if (!values.json) say(io, `${id} is the current workspace of ${workspace.server}.`);
  return EXIT.done;
}

/** Remedies when the current workspace has ended. */
const INSTEAD = 'farthing workspace create, or workspace use ID or none';

/** `workspace list`: those that may still live. */
export async function workspaceList({ values }: Call<'workspace list'>, io: Io): Promise<number> {
  if (houseKeyOf(io) !== undefined) return listHouse(values, io);
  const { current, known } = await readMemory(io);
  const all = Object.entries(known).map(([id, workspace]) => ({
    id,
    server: workspace.server,
    current: current[workspace.server] === id,
    ended: endOf(workspace),
    expires_at: 'ended' in workspace ? workspace.at : workspace.expires_at,
  }));
  const found = all.filter(({ ended }) => ended === undefined).map(({ ended: _, ...living }) => living);
  if (values.json) {
    for (const workspace of found) io.write(`${JSON.stringify(workspace)}\n`);
    return EXIT.done;
  }
  for (const { id, server, current: wasCurrent, ended } of all)
    if (wasCurrent && ended !== undefined)
      say(io, `${id}, the current workspace of ${server}, has ended (${ended}): ${INSTEAD}.`);
  if (found.length === 0) say(io, 'None: "farthing workspace create" rents one.');
  else {
    const rows = found.map(({ id, current: isCurrent, expires_at }) => [
      isCurrent ? '*' : ' ',
      id,
      timeLeft(expires_at),
    ]);
    const servers = found.map(({ server }) => server);
    io.write(`${withServers(rows, servers, io.out?.columns)}\n`);
  }
  return EXIT.done;
}

/** With FARTHING_KEY: the workspaces that the key opens. */
async function listHouse(
  { json, server }: { json: boolean; server?: string | undefined },
  io: Io,
): Promise<number> {
  const { client } = await openAccess({ server, 'no-workspace': true }, io);
  for (let after: string | undefined; ; ) {
    const { workspaces, next } = await client.house.list({ after });
    for (const { id, name = '', created_at } of workspaces)
      io.write(
        json
          ? `${JSON.stringify({ id, name, created_at })}\n`
          : `${id}  ${timeText(created_at)}  ${clean(name)}\n`,
      );
    if (next === null) return EXIT.done;
    after = next;
  }
}

/** Each workspace with its server: beside it, or beneath it in a narrow terminal. */
function withServers(
  rows: readonly (readonly string[])[],
  servers: readonly string[],
  columns = Infinity,
): string {
  const wide = aligned(rows.map((row, at) => [...row, servers[at]!]));
  if (wide.split('\n').every((line) => widthOf(line) < columns)) return wide;
  const lines = aligned(rows).split('\n');
  return lines.map((line, at) => `${line}\n   ${servers[at]}`).join('\n');
}

function timeLeft(expires_at: string | undefined): string {
  return expires_at === undefined ? 'time not known' : `${durationText(secondsTo(expires_at))} left`;
}

const secondsTo = (time: string) => (Date.parse(time) - Date.now()) / 1000;

/** How a remembered workspace ended, as far as it is known here; undefined: it may live. */
function endOf(workspace: KnownWorkspace | EndedWorkspace): End | undefined {
  if ('ended' in workspace) return workspace.ended;
  const { expires_at } = workspace;
  return expires_at !== undefined && secondsTo(expires_at) <= 0 ? 'time over' : undefined;
}

/** `workspace usage [ID]` */
export async function workspaceUsage({ words, values }: Call<'workspace usage'>, io: Io): Promise<number> {
  const access = await openWorkspace(words, values, io);
  const answer = await inWorkspace(access, io, () => access.workspace.usage());
  const rows = factsOf(SHOWN_FIELDS.usage, answer, 'terminal', VOICE);
  const text = aligned(rows.map(({ label, value, beside }) => [label, value + beside]));
  show(values.json, io, { ...answer }, text);
  return EXIT.done;
}

/** `workspace extend [ID]` */
export async function workspaceExtend({ words, values }: Call<'workspace extend'>, io: Io): Promise<number> {
  const access = await openWorkspace(words, values, io);
  const { workspace, client } = access;
  const ttlMinutes = await sellableMinutes(values.minutes, access, io);
  const answer = await inWorkspace(access, io, () =>
    workspace.extend({
      ttlMinutes,
      ...(values.reserve && { reserve: true }),
      signal: io.signal,
    }),
  );
  await remember(io, workspace.id, {
    server: client.baseUrl,
    token: workspace.token,
    expires_at: answer.expires_at,
  });
  show(
    values.json,
    io,
    { ...answer },
    `${workspace.id}: ${counted(answer.ttl_minutes, 'minute')} more${values.reserve ? ' in reserve' : ''}, until ${timeText(answer.expires_at)}`,
  );
  explainSpending(access, io);
  return EXIT.done;
}

/** `workspace end-reserve [ID]` */
export async function workspaceEndReserve(
  { words, values }: Call<'workspace end-reserve'>,
  io: Io,
): Promise<number> {
  const access = await openWorkspace(words, values, io);
  const { workspace, client } = access;
  const answer = await inWorkspace(access, io, () => workspace.endReserve());
  const { returned_minutes, returned_usd, expires_at } = answer;
  await remember(io, workspace.id, { server: client.baseUrl, token: workspace.token, expires_at });
  const back = `${counted(returned_minutes, 'minute')} were not used, ${usdText(returned_usd)} are prepaid again`;
  show(values.json, io, { ...answer }, `${workspace.id}: ${back}; it ends ${timeText(expires_at)}`);
  return EXIT.done;
}

/** The workspace that a word or --workspace names, or the current one. @throws UsageError without any */
export async function openWorkspace(
  [id]: readonly string[],
  values: AccessValues,
  io: Io,
  evenEnded = false,
): Promise<Access & { readonly workspace: NonNullable<Access['workspace']> }> {
  const access = await openAccess({ ...values, workspace: id ?? values.workspace }, io, { evenEnded });
  if (!access.workspace)
    throw new UsageError('Which workspace? There is no current one: name it, or create one.');
  return { ...access, workspace: access.workspace };
}

/** What is to be bought. A server sells so many at a time: another number than was asked for is bought only if a person agrees. */
async function sellableMinutes(
  asked: string | undefined,
  { client }: Pick<Access, 'client'>,
  io: Io,
): Promise<number | undefined> {
  const minutes = minutesOf(asked);
  if (minutes === undefined) return undefined;
  const { min, max } = (await client.ready()).workspace_minutes;
  const sold = Math.min(Math.max(minutes, min), max);
  if (sold === minutes) return minutes;
  const rule = `This server sells ${min} to ${max} minutes at a time, not ${minutes}.`;
  const agrees = ask(io, `${rule} Take ${sold}?`);
  if (!agrees) throw new UsageError(`${rule} --minutes ${sold} buys what is nearest. Nothing was paid.`);
  if (!(await agrees)) throw new FarthingError('payment_declined', 'You said no: nothing was paid.');
  return sold;
}

function minutesOf(minutes: string | undefined): number | undefined {
  if (minutes !== undefined && !/^0*[1-9]\d{0,8}$/.test(minutes))
    throw new UsageError(`--minutes: "${minutes}" is not a whole number of at least 1.`);
  return minutes === undefined ? undefined : Number(minutes);
}

function show(json: boolean, io: Io, value: object, text: string): void {
  io.write(json ? `${JSON.stringify(value)}\n` : `${fitted(text, io.out)}\n`);
}
