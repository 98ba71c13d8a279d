import { Farthing, type Workspace } from '../client/index.ts';
import { parseUsd } from '../domain/money.ts';
import { type Io, UsageError } from './io.ts';
import { openWallet } from './wallet.ts';
import {
  type KnownWorkspace,
  notRemembered,
  readMemory,
  type WorkspaceMemory,
} from './workspace/workspace-memory.ts';

const SERVER = 'http://127.0.0.1:8402';
const BUDGET_USD = '1';
const MAX_PRICE_USD = '1';
/** Higher prices need a person's consent or --yes. */
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

export interface Access {
  readonly client: Farthing;
  /** The chosen workspace; undefined: the wallet's own index, paid by the call. */
  readonly workspace: Workspace | undefined;
  /** Where files go: server, and workspace or wallet. Key of the memory of sent files. */
  readonly target: string;
}

/** Opens the client with the local wallet and the chosen workspace. */
export async function openAccess(values: CommonValues, io: Io): Promise<Access> {
  const known = chosenWorkspace(values, await readMemory(io));
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
 * The named workspace, or the current one. A token is sent to its own server only: another --server ignores the current
 * workspace. @throws UsageError when the named one is not remembered or is at another server
 */
function chosenWorkspace(
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

/** Shows at a terminal what was paid. */
export function explainSpending({ client }: Access, io: Io): void {
  const { spentUsd, leftUsd } = client.spending;
  if (spentUsd !== '0' && io.errColumns)
    io.explain(`charged ${spentUsd} USD; ${leftUsd} of the budget left\n`);
}
