import { text } from 'node:stream/consumers';
import { type Hex, isHex, toHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

/** What is read of a 402's body. */
interface PaymentRequired {
  readonly accepts: readonly {
    readonly network: string;
    readonly payTo: Hex;
    readonly maxAmountRequired: string;
    readonly maxTimeoutSeconds: number;
    readonly asset: Hex;
    readonly extra: { readonly name: string; readonly version: string };
  }[];
}

/** EIP-3009. */
const TRANSFER = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
] as const;
const CHAIN_ID = 8453;
/** Clocks differ. */
const BEGUN_SECONDS = 600;
const NO_KEY =
  'Set WALLET_KEY to the private key of a wallet; for play money any will do: export WALLET_KEY=0x$(openssl rand -hex 32)';

/**
 * For trying a server with curl: reads a 402's body, and gives the value of the X-PAYMENT header that pays it.
 * @param key private key of the paying wallet, 0x and 64 hexadecimal digits. @throws Error with what to do
 */
export async function signPayment(body: NodeJS.ReadableStream, key: string | undefined): Promise<string> {
  if (!isHex(key) || key.length !== 66) throw new Error(NO_KEY);
  const option = (JSON.parse(await text(body)) as Partial<PaymentRequired>).accepts?.[0];
  if (!option) throw new Error('This is no 402: pipe the body of an answer to an unpaid request in.');
  const account = privateKeyToAccount(key);
  const now = Math.floor(Date.now() / 1000);
  const message = {
    from: account.address,
    to: option.payTo,
    value: BigInt(option.maxAmountRequired),
    validAfter: BigInt(now - BEGUN_SECONDS),
    validBefore: BigInt(now + option.maxTimeoutSeconds),
    nonce: toHex(crypto.getRandomValues(new Uint8Array(32))),
  };
  const { name, version } = option.extra;
  const signature = await account.signTypedData({
    domain: { name, version, chainId: CHAIN_ID, verifyingContract: option.asset },
    types: { TransferWithAuthorization: TRANSFER },
    primaryType: 'TransferWithAuthorization',
    message,
  });
  const authorization = Object.fromEntries(
    Object.entries(message).map(([field, value]) => [field, String(value)]),
  );
  const { network } = option;
  const payment = { x402Version: 1, scheme: 'exact', network, payload: { signature, authorization } };
  return Buffer.from(JSON.stringify(payment)).toString('base64');
}
