import { Farthing, FarthingError, type Workspace } from '@farthing/client';
import { usdText } from '@farthing/protocol/figures';
import { isHouseKey } from '@farthing/protocol/house';
import { formatUsd } from '@farthing/protocol/money';
import { UsageError } from '../commands/command-set.ts';
import type { Io } from '../terminal/io.ts';
import { say } from '../terminal/say.ts';
import { amountOf, Consent } from './consent.ts';
import { openWallet, walletMissing } from './key-file.ts';
import {
  type EndedWorkspace,
  markEnded,
  notRemembered,
  readMemory,
  type WorkspaceMemory,
} from './workspace-memory.ts';

const SERVER = 'http://127.0.0.1:8402';
const BUDGET_USD = '1';
const MAX_PRICE_USD = '1';
/** The workspace that the first upload makes. */
const HOUSE_NAME = 'files';
/** A person waits: about a second. A run over many files is more patient. */
const ATTEMPTS_MAX = 4;

/** Options for the target and the payment. A command has those that apply to it. */
export interface AccessValues {
  readonly server?: string | undefined;
  readonly budget?: string | undefined;
  readonly 'max-price'?: string | undefined;
  readonly 'ask-above'?: string | undefined;
  readonly yes?: boolean;
  readonly workspace?: string | undefined;
  readonly 'no-workspace'?: boolean;
}

export interface Access {
  readonly client: Farthing;
  /** The chosen workspace; undefined: the wallet's own index, paid by the call. */
  readonly workspace: Workspace | undefined;
  /** Where files go: server, and workspace or wallet. Key of the memory of sent files. */
  readonly target: string;
  readonly consent: Consent;
  /** The most that the command may spend. */
  readonly budgetUsd: string;
}

/** How a client is opened. */
interface AccessOptions {
  /** Insists for longer on an answer. */
  readonly patient?: boolean;
  /** Also an expired workspace, whose receipt is still available. */
  readonly evenEnded?: boolean;
  /** Makes a workspace where the house has none. */
  readonly mayMake?: boolean;
}

/** Opens the client with the local wallet and the chosen workspace. @throws workspace_unauthorized when that has ended */
export async function openAccess(
  values: AccessValues,
  io: Io,
  { patient = false, evenEnded = false, mayMake = false }: AccessOptions = {},
): Promise<Access> {
  const memory = await readMemory(io);
  const key = houseKeyOf(io);
  // A key is for the server that is named, not for the one used last.
  const server = serverOf(values, io, key === undefined ? memory : {});
  const isRented = key === undefined || (values.workspace !== undefined && values.workspace in memory.known);
  const known = isRented ? chosenWorkspace(values, io, memory, server, evenEnded) : undefined;
  const account = await openWallet(io);
  const consent = new Consent({ 'ask-above': values['ask-above'], yes: values.yes ?? false }, io);
  const budgetUsd = usd('budget', values.budget ?? io.environment.FARTHING_BUDGET_USD ?? BUDGET_USD);
  const client = new Farthing({
    baseUrl: server,
    // A workspace needs no wallet: a missing one counts only when something is paid.
    account: account ?? (() => openWallet(io).then((later) => later ?? Promise.reject(walletMissing()))),
    budgetUsd,
    prepaid: true,
    key,
    maxPriceUsd: usd(
      'max-price',
      values['max-price'] ?? io.environment.FARTHING_MAX_PRICE_USD ?? MAX_PRICE_USD,
    ),
    approve: ({ usd: price, payTo, description }) =>
      consent.forOne(price, `${description} It is paid to ${payTo}.`),
    ...(!patient && { attemptsMax: ATTEMPTS_MAX }),
  });
  const workspace = isRented
    ? known && client.workspaces.open(known)
    : await houseWorkspace(client, values, io, mayMake);
  const target = `${server} ${workspace?.id ?? account?.address ?? ''}`;
  return { client, workspace, target, consent, budgetUsd };
}

/**
 * The named workspace, or the server's current one. A token is sent to its own server only.
 * @throws UsageError when the named one is not remembered or is at another server
 */
function chosenWorkspace(
  values: AccessValues,
  io: Io,
  { current, known }: WorkspaceMemory,
  server: string,
  evenEnded: boolean,
): { readonly id: string; readonly token: string } | undefined {
  const id = values['no-workspace'] ? undefined : (values.workspace ?? current[server]);
  if (id === undefined) return undefined;
  const workspace = known[id];
  if (!workspace) throw notRemembered(id);
  const { token } = workspace;
  if (token === undefined || ('ended' in workspace && !evenEnded))
    throw workspaceEnded(id, workspace as EndedWorkspace);
  if (workspace.server === server) return { id, token };
  const from = values.server === undefined && io.environment.FARTHING_URL ? 'FARTHING_URL says' : 'you named';
  throw new UsageError(`The workspace ${id} is at ${workspace.server}, and ${from} ${server}.`);
}

/** The key of the server's house that the environment has. @throws UsageError for something else in its place */
export function houseKeyOf({ environment }: Io): string | undefined {
  const key = environment.FARTHING_KEY || undefined;
  if (key === undefined || isHouseKey(key)) return key;
  throw new UsageError('FARTHING_KEY is no key of a server’s house, which begins with fhk_.');
}

/** The named workspace of the house, or the only one. @throws UsageError where there are several; not_found without any */
async function houseWorkspace(
  client: Farthing,
  values: AccessValues,
  io: Io,
  mayMake: boolean,
): Promise<Workspace | undefined> {
  if (values['no-workspace']) return undefined;
  const named = values.workspace ?? (io.environment.FARTHING_WORKSPACE || undefined);
  if (named !== undefined) return client.house.open(named);
  const { workspaces } = await client.house.list({ limit: 2 });
  const [first, ...others] = workspaces;
  if (others.length > 0)
    throw new UsageError(
      'The key opens several workspaces: --workspace ID or FARTHING_WORKSPACE names one, and "farthing workspace list" shows them.',
    );
  if (first) return client.house.open(first.id);
  if (mayMake) return client.house.create({ name: HOUSE_NAME });
  throw new FarthingError(
    'not_found',
    'The key opens no workspace yet: "farthing ingest FILES" makes one, if the key has the right admin.',
  );
}

/** The server: as the command names it, as the environment does, or the one used last. */
export function serverOf(
  { server }: Pick<AccessValues, 'server'>,
  io: Io,
  memory: Pick<WorkspaceMemory, 'server'>,
): string {
  const found = server ?? (io.environment.FARTHING_URL || (memory.server ?? SERVER));
  if (!URL.canParse(found) || !/^https?:/.test(found))
    throw new UsageError(`"${found}" is no address of a server, such as ${SERVER}.`);
  return found.replace(/\/+$/, '');
}

/**
 * Runs what a workspace is used for. If the server no longer accepts it and it has expired, that is remembered.
 * @throws workspace_unauthorized with what to do instead
 */
export async function inWorkspace<T>({ workspace }: Access, io: Io, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!workspace || (error as FarthingError).code !== 'workspace_unauthorized') throw error;
    const known = (await readMemory(io)).known[workspace.id];
    const end = known && !('ended' in known) ? known.expires_at : undefined;
    if (end === undefined || Date.parse(end) > Date.now())
      throw ended(`The server does not know the workspace ${workspace.id}, or not its token.`);
    await markEnded(io, workspace.id, 'time over');
    throw ended(`The workspace ${workspace.id} has expired, and its files are gone.`);
  }
}

function workspaceEnded(id: string, { ended: how }: EndedWorkspace): FarthingError {
  const why = how === 'destroyed' ? 'was destroyed' : 'has expired';
  return ended(`The workspace ${id} ${why}, and its files are gone.`);
}

/** It stays the current one, so that nothing meant for it is paid by the call instead. */
function ended(what: string): FarthingError {
  return new FarthingError(
    'workspace_unauthorized',
    `${what}\n"farthing workspace create" rents another; "farthing workspace use none" pays by the call.`,
  );
}

function usd(option: string, value: string): string {
  return formatUsd(amountOf(option, value));
}

/** Says at a terminal what was paid. */
export function explainSpending({ client }: Access, io: Io): void {
  const { spentUsd } = client.spending;
  if (spentUsd !== '0' && io.err) say(io, `Paid ${usdText(spentUsd)}.`);
}
