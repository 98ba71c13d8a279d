import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { BASE_USDC, prepaidOn } from '../../src/payment/asset.ts';
import { type SignedTransfer, signTransfer, tokenDomain } from '../../test/rig/sign-transfer.ts';

/** A wallet whose payments are signed before the clock starts. */

/** One way to pay, as the v2 header of a 402 offers it. */
export interface Offer {
  readonly asset: string;
  readonly amount: string;
  readonly payTo: `0x${string}`;
}

export interface Timed {
  readonly ms: number;
  /** The server's own times of its stages, in milliseconds. */
  readonly timing: Readonly<Record<string, number>>;
}

/** A request that does not come back is a fault with a name, not a bench that hangs. */
const ANSWER_DEADLINE_MS = 60_000;
const PREPAID = prepaidOn('eip155:8453');
/** The terms of a 402, without the time until a payment is sent. */
const VALID_SECONDS = 290;

export class BenchPayer {
  readonly account: PrivateKeyAccount;

  /** @param account a throwaway wallet when none is given */
  constructor(account = privateKeyToAccount(generatePrivateKey())) {
    this.account = account;
  }

  /** The server's terms for this request. @param wallet pays with its prepaid money */
  static async offer(url: string, wallet?: string, body = '{"query":"x"}'): Promise<Offer> {
    const response = await fetch(url, {
      method: 'POST',
      body,
      ...(wallet !== undefined && { headers: { 'X-Prepaid-Wallet': wallet } }),
      signal: AbortSignal.timeout(ANSWER_DEADLINE_MS),
    });
    await response.arrayBuffer();
    const header = response.headers.get('PAYMENT-REQUIRED');
    if (response.status !== 402 || header === null)
      throw new Error(`${url} was answered ${response.status} without a payment`);
    return (JSON.parse(Buffer.from(header, 'base64').toString()) as { accepts: Offer[] }).accepts[0]!;
  }

  /** Pays in advance. @returns how searches are paid for from it */
  async prepay(url: string, usd: number): Promise<Offer> {
    const body = JSON.stringify({ usd });
    const advance = await BenchPayer.offer(`${url}/agent/v1/prepaid`, undefined, body);
    await post(`${url}/agent/v1/prepaid`, body, await this.headers(advance));
    return BenchPayer.offer(`${url}/agent/v1/search`, this.account.address);
  }

  sign({ payTo, amount, asset }: Offer): Promise<SignedTransfer> {
    const validBefore = BigInt(Math.floor(Date.now() / 1000) + VALID_SECONDS);
    const coin = asset === PREPAID.displayedAddress ? PREPAID : BASE_USDC;
    return signTransfer(this.account, tokenDomain(coin), {
      to: payTo,
      value: BigInt(amount),
      validBefore,
    });
  }

  /** The headers of a fresh v2 payment. */
  async headers(offer: Offer): Promise<Record<string, string>> {
    const payment = { x402Version: 2, accepted: offer, payload: await this.sign(offer) };
    return { 'PAYMENT-SIGNATURE': Buffer.from(JSON.stringify(payment)).toString('base64') };
  }
}

/** One POST and the milliseconds until its answer was read. @throws when it is refused, or takes longer than a minute. */
export async function post(
  url: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string>,
): Promise<Timed> {
  const before = performance.now();
  const response = await fetch(url, {
    method: 'POST',
    body,
    headers,
    signal: AbortSignal.timeout(ANSWER_DEADLINE_MS),
  });
  const answer = (await response.json()) as { timing?: Record<string, number> };
  const ms = performance.now() - before;
  if (!response.ok) throw new Error(`${url} was answered ${response.status}: ${JSON.stringify(answer)}`);
  return { ms, timing: answer.timing ?? {} };
}
