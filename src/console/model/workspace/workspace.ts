import { type DisposalAnswer, FarthingError, type ReadyAnswer } from '../../../client/index.ts';
import { type AtomicAmount, formatUsd, parseUsd } from '../../../domain/money.ts';
import { farthing, payWith, workspaceOf } from '../client.ts';
import { formatPrice, sayDuration } from '../format.ts';
import { forgetPreviews } from '../pictures.ts';
import { keepOpened, type OpenWorkspace, recallOpened, session } from '../session.ts';
import {
  type Announced,
  connectWallet,
  hasPlayWallet,
  openPlayWallet,
  type Wallet,
} from '../wallet/wallet.ts';

/** Reads what the server offers, and reopens the workspace of an earlier visit. */
export async function begin(): Promise<void> {
  await attempt(undefined, async () => {
    const facts = await farthing().ready();
    session.set({ facts });
    if (isPlayMoney(facts) && hasPlayWallet()) useWallet(await openPlayWallet());
    const opened = recallOpened();
    if (!opened) return;
    session.set({ opened });
    await refreshUsage();
  });
}

/** Only the local facilitator moves no money: the play wallet is for it alone. */
export function isPlayMoney({ payment }: ReadyAnswer): boolean {
  return payment.facilitator.kind === 'local';
}

export function priceOf({ prices_usd }: ReadyAnswer, minutes: number): AtomicAmount {
  return parseUsd(prices_usd.workspace!) + extensionPrice({ prices_usd }, minutes);
}

export function extensionPrice(
  { prices_usd }: Pick<ReadyAnswer, 'prices_usd'>,
  minutes: number,
): AtomicAmount {
  return parseUsd(prices_usd.workspace_minute!) * BigInt(minutes);
}

export function takePlayWallet(): Promise<void> {
  return attempt('Making a key', async () => useWallet(await openPlayWallet()));
}

export function takeWallet(wallet: Announced): Promise<void> {
  return attempt('Asking the wallet', async () => useWallet(await connectWallet(wallet)));
}

export function leaveWallet(): void {
  useWallet(undefined);
}

function useWallet(wallet: Wallet | undefined): void {
  payWith(wallet);
  session.set({ wallet });
}

export function openWorkspace(minutes: number, spendLimit: string): Promise<void> {
  return attempt('Paying', async () => {
    const { facts, wallet } = session.value;
    if (!facts || !wallet) return;
    const { id, token } = await farthing().workspaces.create({
      ttlMinutes: minutes,
      spendLimitUsd: spendLimit === '' ? undefined : spendLimit,
      maxPriceUsd: formatUsd(priceOf(facts, minutes)),
    });
    const opened = { id, token };
    keepOpened(opened);
    session.set({ opened, files: [], said: `The workspace is open for ${minutes} minutes.` });
    await refreshUsage();
  });
}

export function extend(minutes: number): Promise<void> {
  return attempt('Paying', async () => {
    const { facts, wallet, opened } = session.value;
    if (!facts || !opened) return;
    if (!wallet) throw new Error('Connect a wallet to pay for more time.');
    const agreed = extensionPrice(facts, minutes);
    await workspaceOf(opened).extend({ ttlMinutes: minutes, maxPriceUsd: formatUsd(agreed) });
    await refreshUsage();
    session.set({ said: `${minutes} more minutes for ${formatPrice(agreed)} dollars.` });
  });
}

/** Reads time, money and contents. Closes a workspace that has expired. */
export async function refreshUsage(): Promise<void> {
  const { opened } = session.value;
  if (!opened) return;
  try {
    const usage = await workspaceOf(opened).usage();
    if (session.value.opened?.id !== opened.id) return;
    session.set({ usage, endsAt: performance.now() + usage.ttl_seconds_left * 1000 });
  } catch (error) {
    if (!(error instanceof FarthingError) || error.status !== 401) throw error;
    if (session.value.opened?.id === opened.id)
      leave('The time of the workspace is over. Its data was destroyed.');
  }
}

export function dispose(): Promise<void> {
  return attempt('Destroying', async () => {
    const { opened } = session.value;
    if (!opened) return;
    const { disposal, doubt } = await disposed(opened);
    leave(undefined);
    session.set({
      disposal,
      doubt,
      said: `The workspace is destroyed. ${doubt ?? 'Its receipt is valid.'}`,
    });
  });
}

/** The server's disposal, and why its receipt could not be verified, if so. */
async function disposed(opened: OpenWorkspace): Promise<{ disposal: DisposalAnswer; doubt?: string }> {
  try {
    return { disposal: await workspaceOf(opened).dispose() };
  } catch (error) {
    const known = error instanceof FarthingError ? error : undefined;
    const disposal = known?.facts.disposal as DisposalAnswer | undefined;
    if (!known || !disposal) throw error;
    return { disposal, doubt: known.detail };
  }
}

/** Back to the start; the receipt is forgotten. */
export function startAgain(): void {
  session.set({ disposal: undefined, doubt: undefined, fault: undefined });
}

export function dismissFault(): void {
  session.set({ fault: undefined });
}

function leave(fault: string | undefined): void {
  keepOpened(undefined);
  forgetPreviews();
  session.set({
    opened: undefined,
    usage: undefined,
    endsAt: undefined,
    files: [],
    search: undefined,
    picture: undefined,
    query: '',
    fault,
  });
}

/** Runs a user's action and shows its error. */
export async function attempt(busy: string | undefined, work: () => Promise<void>): Promise<void> {
  session.set({ busy, fault: undefined });
  try {
    await work();
  } catch (error) {
    session.set({ fault: faultOf(error) });
  } finally {
    session.set({ busy: undefined });
  }
}

/** EIP-1193: the user declined. */
const USER_REJECTED = 4001;

export function faultOf(error: unknown): string {
  if ((error as { code?: unknown } | null)?.code === USER_REJECTED)
    return 'The wallet refused to sign. Nothing was paid.';
  if (error instanceof FarthingError)
    return error.status === 402 ? `Not paid: ${error.detail}` : error.detail;
  return error instanceof Error ? error.message : String(error);
}

export function sayTimeLeft(seconds: number): string {
  return `${sayDuration(seconds)} left`;
}
