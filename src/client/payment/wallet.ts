import { FarthingError } from '../answers/error.ts';

export type Hex = `0x${string}`;

/** A typed message (EIP-712) to be signed. */
export interface TypedMessage {
  readonly domain: Record<string, unknown>;
  readonly types: Record<string, unknown>;
  readonly primaryType: string;
  readonly message: Record<string, unknown>;
}

/** Signs payments: a viem account is one. The key stays inside it. */
export interface PaymentAccount {
  readonly address: Hex;
  signTypedData(message: TypedMessage): Promise<Hex>;
}

/** A browser wallet, a viem client, or whatever else speaks EIP-1193. */
export interface Eip1193Signer {
  request(call: { method: string; params?: unknown }): Promise<unknown>;
}

/** Asks a wallet for its address once, and for one signature a payment. The wallet is moved to the payment's chain first. */
export async function accountOfSigner(signer: Eip1193Signer): Promise<PaymentAccount> {
  // A signing node cannot ask for consent: it knows only the second method.
  const accounts = await signer
    .request({ method: 'eth_requestAccounts' })
    .catch((error: unknown) =>
      isUnknownMethod(error) ? signer.request({ method: 'eth_accounts' }) : Promise.reject(error),
    );
  const address = Array.isArray(accounts) ? (accounts[0] as unknown) : undefined;
  if (typeof address !== 'string' || !/^0x[0-9a-fA-F]{40}$/.test(address))
    throw new FarthingError(
      'wallet_missing',
      'The wallet gave no address: unlock it, and allow this page to use it.',
    );
  return {
    address: address as Hex,
    signTypedData: async (message) => {
      await moveToChain(signer, Number(message.domain.chainId));
      // Loaded late: it is large, and only browser wallets need it.
      const { getTypesForEIP712Domain, serializeTypedData } = await import('viem');
      const typed = {
        ...message,
        types: { EIP712Domain: getTypesForEIP712Domain({ domain: message.domain }), ...message.types },
      } as Parameters<typeof serializeTypedData>[0];
      return (await signer.request({
        method: 'eth_signTypedData_v4',
        params: [address, serializeTypedData(typed)],
      })) as Hex;
    },
  };
}

/** JSON-RPC's code, and EIP-1193's. */
const UNKNOWN_METHOD = [-32601, 4200];

function isUnknownMethod(error: unknown): boolean {
  return UNKNOWN_METHOD.includes(Number((error as { code?: unknown } | null)?.code));
}

/** EIP-1193: the wallet doesn't know the chain. */
const UNKNOWN_CHAIN = 4902;

/** Wallets refuse to sign for another chain than theirs; a signer without chains knows neither method. */
async function moveToChain(signer: Eip1193Signer, chainId: number): Promise<void> {
  const wanted = `0x${chainId.toString(16)}`;
  const current = await signer.request({ method: 'eth_chainId' }).catch(() => wanted);
  if (current === wanted) return;
  await signer
    .request({ method: 'wallet_switchEthereumChain', params: [{ chainId: wanted }] })
    .catch((cause: unknown) => {
      if ((cause as { code?: unknown } | null)?.code !== UNKNOWN_CHAIN) throw cause;
      throw new FarthingError('payment_declined', `Add the chain ${chainId} to the wallet, and try again.`, {
        cause,
      });
    });
}
