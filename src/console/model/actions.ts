import type { Disposal, ServerFacts, Usage, Workspace } from './answers.ts';
import { formatUsd, sayDuration, toMillionths } from './format.ts';
import { pay } from './payment.ts';
import { forgetPreviews } from './pictures.ts';
import { checkReceipt } from './receipt.ts';
import { ask, ServerError } from './server.ts';
import { keepOpened, type Opened, recallOpened, session } from './session.ts';
import { type Announced, connectWallet, hasPlayWallet, openPlayWallet } from './wallet.ts';

export const base = ({ id }: Opened) => `/agent/v1/workspaces/${id}`;

/** Reads what the server is, and goes on with the workspace of an earlier visit. */
export async function begin(): Promise<void> {
  await attempt(undefined, async () => {
    const facts = await ask<ServerFacts>({ path: '/readyz', quiet: true });
    session.set({ facts });
    if (isPlayMoney(facts) && hasPlayWallet()) session.set({ wallet: await openPlayWallet() });
    const opened = recallOpened();
    if (!opened) return;
    session.set({ opened });
    await refreshUsage();
  });
}

/** Only the local facilitator moves no money: the play wallet is for it alone. */
export function isPlayMoney({ payment }: ServerFacts): boolean {
  return payment.facilitator.kind === 'local';
}

export function priceOf({ prices_usd }: ServerFacts, minutes: number): bigint {
  return toMillionths(prices_usd.workspace) + extensionPrice({ prices_usd }, minutes);
}

export function extensionPrice({ prices_usd }: Pick<ServerFacts, 'prices_usd'>, minutes: number): bigint {
  return toMillionths(prices_usd.workspace_minute) * BigInt(minutes);
}

export function takePlayWallet(): Promise<void> {
  return attempt('Making a key', async () => session.set({ wallet: await openPlayWallet() }));
}

export function takeWallet(wallet: Announced): Promise<void> {
  return attempt('Asking the wallet', async () => session.set({ wallet: await connectWallet(wallet) }));
}

export function leaveWallet(): void {
  session.set({ wallet: undefined });
}

export function openWorkspace(minutes: number, spendLimit: string): Promise<void> {
  return attempt('Paying', async () => {
    const { facts, wallet } = session.value;
    if (!facts || !wallet) return;
    const made = await pay<Workspace>({
      method: 'POST',
      path: '/agent/v1/workspaces',
      json: { ttl_minutes: minutes, ...(spendLimit !== '' && { spend_limit_usd: Number(spendLimit) }) },
      wallet,
      agreed: priceOf(facts, minutes),
    });
    if (made.capability_token === undefined) throw new Error('The workspace came without its token.');
    const opened = { id: made.id, token: made.capability_token };
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
    await pay<Workspace>({
      method: 'POST',
      path: `${base(opened)}/extend`,
      json: { ttl_minutes: minutes },
      token: opened.token,
      wallet,
      agreed,
    });
    await refreshUsage();
    session.set({ said: `${minutes} more minutes for ${formatUsd(agreed)} dollars.` });
  });
}

/** Reads time, money and contents. A workspace that has ended by itself is left. */
export async function refreshUsage(): Promise<void> {
  const { opened } = session.value;
  if (!opened) return;
  try {
    const usage = await ask<Usage>({ path: `${base(opened)}/usage`, token: opened.token, quiet: true });
    if (session.value.opened?.id !== opened.id) return;
    session.set({ usage, endsAt: performance.now() + usage.ttl_seconds_left * 1000 });
  } catch (error) {
    if (!(error instanceof ServerError) || error.status !== 401) throw error;
    if (session.value.opened?.id === opened.id)
      leave('The time of the workspace is over. Its data was destroyed.');
  }
}

export function dispose(): Promise<void> {
  return attempt('Destroying', async () => {
    const { opened } = session.value;
    if (!opened) return;
    const disposal = await ask<Disposal>({ method: 'DELETE', path: base(opened), token: opened.token });
    leave(undefined);
    session.set({ disposal, said: 'The workspace is destroyed. Its receipt is shown.' });
    const check = await checkReceipt(disposal.receipt);
    session.set({ check, said: `The receipt is ${check.state}.` });
  });
}

/** Back to the start; the receipt is forgotten. */
export function startAgain(): void {
  session.set({ disposal: undefined, check: undefined, fault: undefined });
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

/** Runs an action of the person; what goes wrong is shown. */
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

/** EIP-1193: the person said no. */
const USER_REJECTED = 4001;

export function faultOf(error: unknown): string {
  if ((error as { code?: unknown } | null)?.code === USER_REJECTED)
    return 'The wallet refused to sign. Nothing was paid.';
  if (error instanceof ServerError && error.status === 402) return `Not paid: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}

export function sayTimeLeft(seconds: number): string {
  return `${sayDuration(seconds)} left`;
}
