import { Farthing, type Workspace } from '../client/index.ts';
import { parseUsd } from '../domain/money.ts';
import { configFile, readJson, writeJson } from './folders.ts';
import { type Io, UsageError } from './io.ts';
import { openWallet } from './wallet.ts';

const SERVER = 'http://127.0.0.1:8402';
const BUDGET_USD = '1';
const MAX_PRICE_USD = '1';
/** Above this a person is asked, or --yes must be given. */
const ASK_ABOVE_USD = '0.05';

/** Options that every command of an agent takes. */
export const COMMON_OPTIONS = {
  server: { type: 'string' },
  json: { type: 'boolean', default: false },
  budget: { type: 'string' },
  'max-price': { type: 'string' },
  'ask-above': { type: 'string' },
  yes: { type: 'boolean', short: 'y', default: false },
  workspace: { type: 'string', short: 'w' },
  'no-workspace': { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

export interface CommonValues {
  readonly server?: string;
  readonly json: boolean;
  readonly budget?: string;
  readonly 'max-price'?: string;
  readonly 'ask-above'?: string;
  readonly yes: boolean;
  readonly workspace?: string;
  readonly 'no-workspace': boolean;
}

export interface KnownWorkspace {
  readonly server: string;
  readonly token: string;
  readonly expires_at?: string;
}

/** Remembered workspaces, and which one is used now. */
export interface WorkspaceMemory {
  readonly current: string | null;
  readonly known: Readonly<Record<string, KnownWorkspace>>;
}

const memoryFile = (io: Io) => configFile(io, 'workspaces.json');

export async function readMemory(io: Io): Promise<WorkspaceMemory> {
  return (await readJson<WorkspaceMemory>(memoryFile(io))) ?? { current: null, known: {} };
}

function writeMemory(io: Io, memory: WorkspaceMemory): Promise<void> {
  return writeJson(memoryFile(io), memory);
}

/** From now on it is the current one. */
export async function remember(io: Io, id: string, workspace: KnownWorkspace): Promise<void> {
  const { known } = await readMemory(io);
  await writeMemory(io, { current: id, known: { ...known, [id]: workspace } });
}

/** No workspace is current; all stay remembered. */
export async function useNone(io: Io): Promise<void> {
  await writeMemory(io, { ...(await readMemory(io)), current: null });
}

export async function forget(io: Io, id: string): Promise<void> {
  const { current, known } = await readMemory(io);
  const { [id]: _gone, ...left } = known;
  await writeMemory(io, { current: current === id ? null : current, known: left });
}

export interface Access {
  readonly client: Farthing;
  /** The workspace that is meant; undefined: the wallet's own index, paid by the call. */
  readonly workspace: Workspace | undefined;
  /** Who or what the files go to: for the memory of what was sent. */
  readonly target: string;
}

/** The client with the local wallet and the workspace that is meant. */
export async function openAccess(values: CommonValues, io: Io): Promise<Access> {
  const known = meant(values, await readMemory(io));
  const server = serverOf(values, io, known);
  const account = await openWallet(io);
  const client = new Farthing({
    baseUrl: server,
    account,
    budgetUsd: usd('budget', values.budget ?? io.environment.FARTHING_BUDGET_USD ?? BUDGET_USD),
    maxPriceUsd: usd(
      'max-price',
      values['max-price'] ?? io.environment.FARTHING_MAX_PRICE_USD ?? MAX_PRICE_USD,
    ),
    approve: ({ usd: price, payTo, description }) =>
      approve(values, io, price, `${description} To ${payTo}.`),
  });
  const workspace = known && client.workspaces.open(known);
  return { client, workspace, target: `${server} ${workspace?.id ?? account?.address ?? ''}` };
}

/**
 * The workspace that is meant. A token is its server's alone: at another one a workspace that is merely current is none.
 * @throws UsageError when the one that was named is not remembered, or is at another server
 */
function meant(
  values: CommonValues,
  { current, known }: WorkspaceMemory,
): (KnownWorkspace & { readonly id: string }) | undefined {
  const id = values['no-workspace'] ? null : (values.workspace ?? current);
  if (id === null) return undefined;
  const workspace = known[id];
  if (!workspace) throw notRemembered(id);
  if (values.server === undefined || withoutSlash(values.server) === workspace.server)
    return { id, ...workspace };
  if (values.workspace === undefined) return undefined;
  throw new UsageError(`The workspace ${id} is at ${workspace.server}: leave --server out, or name another.`);
}

export function notRemembered(id: string): UsageError {
  return new UsageError(`The workspace ${id} is not remembered here: farthing workspace use ${id} TOKEN`);
}

export function serverOf(values: CommonValues, io: Io, known?: KnownWorkspace): string {
  return withoutSlash(values.server ?? known?.server ?? io.environment.FARTHING_URL ?? SERVER);
}

function withoutSlash(server: string): string {
  return server.replace(/\/+$/, '');
}

function usd(name: string, value: string): string {
  try {
    parseUsd(value);
    return value;
  } catch (error) {
    throw new UsageError(`--${name}: ${(error as Error).message}`);
  }
}

async function approve(values: CommonValues, io: Io, price: string, what: string): Promise<boolean> {
  const limit = usd('ask-above', values['ask-above'] ?? ASK_ABOVE_USD);
  if (values.yes || parseUsd(price) <= parseUsd(limit)) return true;
  const answer = io.ask(`${what}\nPay ${price} USD? [y/N] `);
  if (!answer)
    io.explain(`The price is ${price} USD: --yes, or --ask-above ${price}, allows it without asking.\n`);
  return (await answer) ?? false;
}

/** What was paid, for a person. */
export function explainSpending({ client }: Access, io: Io): void {
  const { spentUsd, leftUsd } = client.spending;
  if (spentUsd !== '0' && io.errColumns)
    io.explain(`charged ${spentUsd} USD; ${leftUsd} of the budget left\n`);
}
