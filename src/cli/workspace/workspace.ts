import { parseArgs } from 'node:util';
import {
  type Access,
  COMMON_OPTIONS,
  type CommonValues,
  explainSpending,
  openAccess,
  serverOf,
} from '../access.ts';
import { EXIT, type Io, UsageError, WORKSPACE_VERBS, type WorkspaceVerb } from '../io.ts';
import { forget, notRemembered, readMemory, remember, useNone } from './workspace-memory.ts';

const OPTIONS = {
  ...COMMON_OPTIONS,
  minutes: { type: 'string', short: 'm' },
  'spend-limit': { type: 'string' },
} as const;

type Values = CommonValues & { readonly minutes?: string; readonly 'spend-limit'?: string };

/** `workspace create|use|list|usage|extend|dispose`. */
export async function workspaceCommand(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  const [verb = '', ...rest] = positionals;
  const known = WORKSPACE_VERBS.find((name) => name === verb);
  if (!known || rest.length > WORDS_MAX[known])
    throw new UsageError('Use workspace create, use, list, usage, extend or dispose.');
  const named = { ...values, workspace: rest[0] ?? values.workspace };
  switch (known) {
    case 'create':
      return create(values, io);
    case 'use':
      return use(rest, values, io);
    case 'list':
      return list(values, io);
    case 'usage':
      return usage(named, io);
    case 'extend':
      return extend(named, io);
    case 'dispose':
      return dispose(named, io);
    default:
      return known satisfies never;
  }
}

/** How many words may follow each. */
const WORDS_MAX: Readonly<Record<WorkspaceVerb, number>> = {
  create: 0,
  // `use` checks its words itself.
  use: Infinity,
  list: 0,
  usage: 1,
  extend: 1,
  dispose: 1,
};

async function create(values: Values, io: Io): Promise<number> {
  const access = await openAccess({ ...values, 'no-workspace': true }, io);
  const { workspace, record } = await access.client.workspaces.rent({
    ttlMinutes: minutesOf(values),
    spendLimitUsd: values['spend-limit'],
    signal: io.signal,
  });
  const { id, token } = workspace;
  await remember(io, id, { server: access.client.baseUrl, token, expires_at: record.expires_at });
  show(values, io, { ...record }, `${record.id}: ${record.ttl_minutes} minutes, until ${record.expires_at}`);
  explainSpending(access, io);
  return EXIT.done;
}

async function use([id, token, ...more]: readonly string[], values: Values, io: Io): Promise<number> {
  if (id === undefined || more.length > 0)
    throw new UsageError('Use workspace use ID [TOKEN], or workspace use none.');
  if (id === 'none') {
    await useNone(io);
    return EXIT.done;
  }
  const { known } = await readMemory(io);
  const workspace = token === undefined ? known[id] : { server: serverOf(values, io), token };
  if (!workspace) throw notRemembered(id);
  await remember(io, id, workspace);
  return EXIT.done;
}

async function list(values: Values, io: Io): Promise<number> {
  const { current, known } = await readMemory(io);
  for (const [id, { server, expires_at }] of Object.entries(known))
    show(
      values,
      io,
      { id, server, expires_at, current: id === current },
      `${id === current ? '*' : ' '} ${id}  ${expires_at ?? ''}`,
    );
  return EXIT.done;
}

async function usage(values: Values, io: Io): Promise<number> {
  const { workspace } = await openWorkspace(values, io);
  const answer = await workspace.usage();
  const lines = Object.entries(answer).map(([name, value]) => `${name.padEnd(18)} ${shown(value)}`);
  show(values, io, { ...answer }, lines.join('\n'));
  return EXIT.done;
}

async function extend(values: Values, io: Io): Promise<number> {
  const access = await openWorkspace(values, io);
  const answer = await access.workspace.extend({ ttlMinutes: minutesOf(values), signal: io.signal });
  show(values, io, { ...answer }, `${answer.ttl_minutes} more minutes, until ${answer.expires_at}`);
  explainSpending(access, io);
  return EXIT.done;
}

/** Prints the verified receipt. */
async function dispose(values: Values, io: Io): Promise<number> {
  const { workspace } = await openWorkspace(values, io);
  const disposal = await workspace.dispose();
  await forget(io, workspace.id);
  show(values, io, { ...disposal }, disposal.receipt);
  return EXIT.done;
}

async function openWorkspace(
  values: Values,
  io: Io,
): Promise<Access & { workspace: NonNullable<Access['workspace']> }> {
  const access = await openAccess(values, io);
  if (!access.workspace) throw new UsageError('Which workspace? Create one, or name it.');
  return { ...access, workspace: access.workspace };
}

function minutesOf({ minutes }: Values): number | undefined {
  if (minutes !== undefined && !/^\d{1,9}$/.test(minutes))
    throw new UsageError('--minutes must be a whole number.');
  return minutes === undefined ? undefined : Number(minutes);
}

function shown(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function show({ json }: Values, io: Io, value: object, text: string): void {
  io.write(json ? `${JSON.stringify(value)}\n` : `${text}\n`);
}
