import { attempt } from '../attempt.ts';
import { payWith } from '../client.ts';
import { isPlayMoney } from '../prices.ts';
import { session } from '../session.ts';
import { keptNoWallet } from '../storage.ts';
import { type Announced, connectWallet, openPlayWallet, type Wallet } from './wallet.ts';

/** Where no money moves the play wallet is taken without asking, unless the user put it away. */
export async function takeWalletAtStart(): Promise<void> {
  const { facts, wallet } = session.value;
  if (facts && !wallet && isPlayMoney(facts) && !keptNoWallet.read()) useWallet(await openPlayWallet());
}

export function takePlayWallet(): Promise<void> {
  return attempt('Making a key', async () => useWallet(await openPlayWallet()));
}

export function takeWallet(wallet: Announced): Promise<void> {
  return attempt('Asking the wallet', async () => useWallet(await connectWallet(wallet)));
}

export function leaveWallet(): void {
  payWith(undefined);
  keptNoWallet.write({ at: Date.now() });
  session.set({ wallet: undefined });
}

function useWallet(wallet: Wallet): void {
  payWith(wallet);
  keptNoWallet.write(undefined);
  session.set({ wallet });
}
