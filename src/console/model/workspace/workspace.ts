import { type DisposalAnswer, FarthingError } from '@farthing/client';
import { counted } from '@farthing/protocol/figures';
import { formatUsd } from '@farthing/protocol/money';
import { formatPrice, sayDuration } from '../figures/format.ts';
import { extensionPrice, priceOf } from '../figures/prices.ts';
import { addFiles } from '../files/upload.ts';
import { attempt, isUnauthorized } from '../server/attempt.ts';
import { farthing, workspaceOf } from '../server/client.ts';
import { leaveWorkspace, refreshUsage } from '../server/usage.ts';
import { session } from '../state/session.ts';
import { keptEnded, keptReceipt, keptWorkspace } from '../state/storage.ts';

/** Pays for a workspace, and adds the files that wait for one. @param spendLimit in dollars; empty: none */
export function rentWorkspace(minutes: number, spendLimit: string): Promise<void> {
  return attempt('Paying', async () => {
    const { facts, wallet, filesWaiting } = session.value;
    if (!facts || !wallet) return;
    const { id, token } = await farthing().workspaces.create({
      ttlMinutes: minutes,
      spendLimitUsd: spendLimit === '' ? undefined : spendLimit,
      maxPriceUsd: formatUsd(priceOf(facts, minutes)),
    });
    const opened = { id, token };
    keptWorkspace.write(opened);
    dismissEnded();
    session.set({
      opened,
      filesWaiting: [],
      said: `The workspace is open for ${counted(minutes, 'minute')}.`,
    });
    addFiles(filesWaiting);
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

export function dispose(): Promise<void> {
  return attempt('Destroying', async () => {
    const { opened } = session.value;
    if (!opened) return;
    const receipt = await verified(workspaceOf(opened).dispose());
    leaveWorkspace();
    showReceipt(receipt);
  });
}

/** The receipt of an expired workspace. */
export function fetchEndedReceipt(): Promise<void> {
  return attempt('Fetching the receipt', async () => {
    const { ended } = session.value;
    if (!ended) return;
    try {
      showReceipt(await verified(workspaceOf(ended).receipt()));
    } catch (error) {
      if (!isUnauthorized(error)) throw error;
      session.set({ fault: 'The server no longer gives out this receipt: it does for a day after the end.' });
    }
    dismissEnded();
  });
}

export function dismissEnded(): void {
  keptEnded.write(undefined);
  session.set({ ended: undefined });
}

/** Back to the start; the receipt is forgotten. */
export function startAgain(): void {
  keptReceipt.write(undefined);
  session.set({ disposal: undefined, doubt: undefined, fault: undefined });
}

interface VerifiedReceipt {
  readonly disposal: DisposalAnswer;
  /** Why the receipt could not be verified, if so. */
  readonly doubt?: string;
}

function showReceipt({ disposal, doubt }: VerifiedReceipt): void {
  keptReceipt.write({ disposal, doubt });
  session.set({
    disposal,
    doubt,
    said: `The workspace is destroyed. ${doubt ?? 'Its receipt is valid.'}`,
  });
}

async function verified(disposing: Promise<DisposalAnswer>): Promise<VerifiedReceipt> {
  try {
    return { disposal: await disposing };
  } catch (error) {
    const known = error instanceof FarthingError ? error : undefined;
    const disposal = known?.facts.disposal as DisposalAnswer | undefined;
    if (!known || !disposal) throw error;
    return { disposal, doubt: known.detail };
  }
}

export function sayTimeLeft(seconds: number): string {
  return `${sayDuration(seconds)} left`;
}
