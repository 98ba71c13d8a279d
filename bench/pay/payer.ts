import { randomBytes } from 'node:crypto';
import { authorizationTypes } from '@x402/evm';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { type Hex, signPayment } from '../../src/client/index.ts';
import { BASE_USDC } from '../../src/payment/asset.ts';

/** A wallet whose payments are signed before the clock starts. */

export const DOMAIN = {
  name: BASE_USDC.name,
  version: BASE_USDC.version,
  chainId: BASE_USDC.chainId,
  verifyingContract: BASE_USDC.address,
};

export interface Timed {
  readonly ms: number;
  /** What the server says about its stages, in milliseconds. */
  readonly timing: Readonly<Record<string, number>>;
}

/** A request that does not come back is a fault with a name, not a bench that hangs. */
const ANSWER_DEADLINE_MS = 60_000;

export class BenchPayer {
  readonly account: PrivateKeyAccount = privateKeyToAccount(generatePrivateKey());

  /** What the server asks for this request: the header of its 402. */
  static async quote(url: string): Promise<string> {
    const response = await fetch(url, {
      method: 'POST',
      body: '{"query":"x"}',
      signal: AbortSignal.timeout(ANSWER_DEADLINE_MS),
    });
    await response.arrayBuffer();
    const header = response.headers.get('PAYMENT-REQUIRED');
    if (response.status !== 402 || header === null)
      throw new Error(`${url} was answered ${response.status} without a payment`);
    return header;
  }

  /** The headers of a fresh v2 payment. */
  headers(quote: string): Promise<Readonly<Record<string, string>>> {
    return signPayment(quote, { account: this.account, maxPriceUsd: 1 });
  }

  /** An authorization and its signature by themselves. */
  async sign(payTo: Hex, amount: bigint) {
    const message = {
      from: this.account.address,
      to: payTo,
      value: amount,
      validAfter: 0n,
      validBefore: BigInt(Math.floor(Date.now() / 1000) + 290),
      nonce: `0x${randomBytes(32).toString('hex')}`,
    } as const;
    const signature = await this.account.signTypedData({
      domain: DOMAIN,
      types: authorizationTypes,
      primaryType: 'TransferWithAuthorization',
      message,
    });
    return { message, signature };
  }
}

/** One POST and the milliseconds until its answer was read. @throws when it is refused, or takes longer than a minute. */
export async function post(
  url: string,
  body: string,
  headers: Readonly<Record<string, string>>,
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
