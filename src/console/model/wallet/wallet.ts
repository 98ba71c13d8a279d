import { accountOfSigner, type Eip1193Signer } from '@farthing/client';
import type { Wallet } from '../state/session.ts';
import { Store } from '../state/store.ts';

/** A browser wallet that announced itself (EIP-6963), or the older `window.ethereum`. */
export interface Announced {
  readonly name: string;
  readonly provider: Eip1193Signer;
}

const PLAY_KEY = 'farthing.play-key';

export const announced = new Store<{ list: readonly Announced[] }>({ list: [] });

/** Starts to listen for browser wallets. */
export function discoverWallets(): void {
  const add = (wallet: Announced) => {
    if (announced.value.list.some(({ provider }) => provider === wallet.provider)) return;
    announced.set({ list: [...announced.value.list, wallet] });
  };
  window.addEventListener('eip6963:announceProvider', (event) => {
    const { info, provider } = (event as CustomEvent<{ info: { name: string }; provider: Eip1193Signer }>)
      .detail;
    add({ name: String(info.name).slice(0, 40), provider });
  });
  window.dispatchEvent(new Event('eip6963:requestProvider'));
  const { ethereum } = window as { ethereum?: Eip1193Signer };
  if (ethereum) add({ name: 'Browser wallet', provider: ethereum });
}

/** Asks a wallet of the browser for an account. @throws Error when its owner refuses */
export async function connectWallet({ name, provider }: Announced): Promise<Wallet> {
  const account = await accountOfSigner(provider);
  return { kind: 'browser', name, address: account.address, account };
}

/** The play wallet: this page's key, useful only with a facilitator that moves no money. */
export async function openPlayWallet(): Promise<Wallet> {
  const { generatePrivateKey, privateKeyToAccount } = await import('./account.ts');
  let key = localStorage.getItem(PLAY_KEY);
  if (key === null || !/^0x[0-9a-f]{64}$/.test(key)) {
    key = generatePrivateKey();
    localStorage.setItem(PLAY_KEY, key);
  }
  const account = privateKeyToAccount(key as `0x${string}`);
  return { kind: 'play', name: 'Play wallet', address: account.address, account };
}
