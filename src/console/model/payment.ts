import { type Request, readJson, refusal, ServerError, send } from './server.ts';
import type { TypedData, Wallet } from './wallet.ts';

/** One way to pay, as the header `PAYMENT-REQUIRED` offers it (x402 v2, scheme `exact` on an EVM chain). */
interface Option {
  readonly scheme: string;
  readonly network: string;
  readonly amount: string;
  readonly asset: string;
  readonly payTo: string;
  readonly maxTimeoutSeconds: number;
  readonly extra: { readonly name: string; readonly version: string };
}

interface Challenge {
  readonly error: string;
  readonly resource: object;
  readonly accepts: readonly Option[];
}

export interface PaidRequest extends Request {
  readonly wallet: Wallet;
  /** What the person agreed to, in millionths of a dollar; more is never signed. */
  readonly agreed: bigint;
}

/** Half a minute into the past: clocks differ. */
const CLOCK_SLACK_S = 30;
/** With the same key and authorization a lost answer is given again, uncharged. */
const ATTEMPTS = 3;

/** Asks unpaid, signs what the 402 wants, and asks again. @throws ServerError, also `price_differs` before anything is signed */
export async function pay<T>({ wallet, agreed, ...request }: PaidRequest): Promise<T> {
  const unpaid = await send({ ...request, note: 'asks for the price' });
  if (unpaid.status !== 402) return readJson<T>(unpaid);
  const { option, resource } = await choose(unpaid);
  if (BigInt(option.amount) > agreed) {
    throw new ServerError(
      402,
      'price_differs',
      `The server asks for ${option.amount} millionths, more than was shown.`,
    );
  }
  const payload = await authorize(option, wallet);
  const headers = {
    ...request.headers,
    'PAYMENT-SIGNATURE': toBase64(JSON.stringify({ x402Version: 2, resource, accepted: option, payload })),
    'Idempotency-Key': hexOf(crypto.getRandomValues(new Uint8Array(16))),
  };
  const note = `signed by ${wallet.address.slice(0, 8)}…`;
  for (let attempt = 1; ; attempt++) {
    try {
      const paid = await send({ ...request, headers, note });
      if (paid.status === 402) throw await refusal(paid);
      return await readJson<T>(paid);
    } catch (error) {
      const isLost = error instanceof ServerError && error.code === 'unreachable';
      if (!isLost || attempt === ATTEMPTS) throw error;
    }
  }
}

async function choose(response: Response): Promise<{ option: Option; resource: object }> {
  const header = response.headers.get('PAYMENT-REQUIRED');
  if (header === null) throw await refusal(response);
  const { accepts, resource, error } = JSON.parse(fromBase64(header)) as Challenge;
  const option = accepts.find(({ scheme, network }) => scheme === 'exact' && network.startsWith('eip155:'));
  if (!option)
    throw new ServerError(402, 'no_known_option', 'The server wants to be paid in a way unknown here.');
  if (error === 'spend_limit_exceeded')
    throw new ServerError(
      402,
      error,
      'The price is above the spend limit: raise the limit, or buy fewer minutes.',
    );
  return { option, resource };
}

/** Signs a transfer of exactly the amount (EIP-3009 over EIP-712). */
async function authorize(option: Option, wallet: Wallet): Promise<object> {
  const now = Math.floor(Date.now() / 1000);
  const authorization = {
    from: wallet.address,
    to: option.payTo,
    value: option.amount,
    validAfter: String(now - CLOCK_SLACK_S),
    validBefore: String(now + option.maxTimeoutSeconds),
    nonce: `0x${hexOf(crypto.getRandomValues(new Uint8Array(32)))}`,
  };
  const typed: TypedData = {
    domain: {
      name: option.extra.name,
      version: option.extra.version,
      chainId: Number(option.network.split(':')[1]),
      verifyingContract: option.asset,
    },
    message: authorization,
  };
  return { signature: await wallet.sign(typed), authorization };
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function toBase64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

function fromBase64(text: string): string {
  return new TextDecoder().decode(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)));
}
