import { Store } from './store.ts';

/** What is signed: a transfer with authorization (EIP-3009); its types are the same for every one. */
export interface TypedData {
  readonly domain: {
    readonly name: string;
    readonly version: string;
    readonly chainId: number;
    readonly verifyingContract: string;
  };
  readonly message: Readonly<Record<string, string>>;
}

export interface Wallet {
  readonly kind: 'play' | 'browser';
  readonly name: string;
  readonly address: string;
  /** @throws Error when its owner refuses */
  sign(typed: TypedData): Promise<string>;
}

/** EIP-1193. */
interface Provider {
  request(call: { method: string; params?: readonly unknown[] }): Promise<unknown>;
}

/** A wallet of the browser that has announced itself (EIP-6963), or the old `window.ethereum`. */
export interface Announced {
  readonly name: string;
  readonly provider: Provider;
}

const TYPES = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const;
const DOMAIN_TYPE = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
];
const PLAY_KEY = 'farthing.play-key';
/** EIP-1193: the wallet doesn't know the chain. */
const UNKNOWN_CHAIN = 4902;

export const announced = new Store<{ list: readonly Announced[] }>({ list: [] });

/** Begins to listen for wallets of the browser. */
export function discoverWallets(): void {
  const add = (wallet: Announced) => {
    if (announced.value.list.some(({ provider }) => provider === wallet.provider)) return;
    announced.set({ list: [...announced.value.list, wallet] });
  };
  window.addEventListener('eip6963:announceProvider', (event) => {
    const { info, provider } = (event as CustomEvent<{ info: { name: string }; provider: Provider }>).detail;
    add({ name: String(info.name).slice(0, 40), provider });
  });
  window.dispatchEvent(new Event('eip6963:requestProvider'));
  const { ethereum } = window as { ethereum?: Provider };
  if (ethereum) add({ name: 'Browser wallet', provider: ethereum });
}

/** Asks a wallet of the browser for an account. @throws Error when its owner refuses */
export async function connectWallet({ name, provider }: Announced): Promise<Wallet> {
  const accounts = (await provider.request({ method: 'eth_requestAccounts' })) as string[];
  const address = accounts[0];
  if (address === undefined) throw new Error(`${name} gave no account.`);
  return {
    kind: 'browser',
    name,
    address,
    async sign({ domain, message }) {
      await switchChain(provider, domain.chainId);
      const typed = {
        types: { EIP712Domain: DOMAIN_TYPE, ...TYPES },
        primaryType: 'TransferWithAuthorization',
        domain,
        message,
      };
      return (await provider.request({
        method: 'eth_signTypedData_v4',
        params: [address, JSON.stringify(typed)],
      })) as string;
    },
  };
}

/** Most wallets sign for their current chain alone. */
async function switchChain(provider: Provider, chainId: number): Promise<void> {
  const wanted = `0x${chainId.toString(16)}`;
  if ((await provider.request({ method: 'eth_chainId' })) === wanted) return;
  try {
    await provider.request({ method: 'wallet_switchEthereumChain', params: [{ chainId: wanted }] });
  } catch (error) {
    if ((error as { code?: number }).code === UNKNOWN_CHAIN)
      throw new Error(`Add the chain ${chainId} to the wallet, and try again.`);
    throw error;
  }
}

/** The play wallet: a key of this page alone, of worth only to a facilitator that moves no money. */
export async function openPlayWallet(): Promise<Wallet> {
  const { generatePrivateKey, privateKeyToAccount } = await import('./account.ts');
  let key = localStorage.getItem(PLAY_KEY);
  if (key === null || !/^0x[0-9a-f]{64}$/.test(key)) {
    key = generatePrivateKey();
    localStorage.setItem(PLAY_KEY, key);
  }
  const account = privateKeyToAccount(key as `0x${string}`);
  return {
    kind: 'play',
    name: 'Play wallet',
    address: account.address,
    sign: ({ domain, message }) =>
      account.signTypedData({
        domain: { ...domain, verifyingContract: domain.verifyingContract as `0x${string}` },
        types: TYPES,
        primaryType: 'TransferWithAuthorization',
        message: {
          from: message.from as `0x${string}`,
          to: message.to as `0x${string}`,
          value: BigInt(message.value!),
          validAfter: BigInt(message.validAfter!),
          validBefore: BigInt(message.validBefore!),
          nonce: message.nonce as `0x${string}`,
        },
      }),
  };
}

/** A play key that an earlier visit made. */
export function hasPlayWallet(): boolean {
  return localStorage.getItem(PLAY_KEY) !== null;
}
