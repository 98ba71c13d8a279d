import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { BASE_USDC } from '../../../src/payment/asset.ts';
import type { Payment } from '../../../src/payment/payment.ts';
import type { Answer, PaymentCredentials } from '../../../src/payment/purchase.ts';
import { parsePaymentHeader } from '../../../src/payment/wire/payment-header.ts';
import type { Address } from '../../../src/protocol/address.ts';
import {
  type SignedTransfer,
  signTransfer,
  type TokenDomain,
  type Transfer,
  tokenDomain,
} from '../../rig/sign-transfer.ts';

/** Wallets, and payments as their clients send them. */

export const PAY_TO: Address = '0x00000000000000000000000000000000000fa127';
export const PRICE = 6000n;
export const MAX_TIMEOUT_SECONDS = 300;

export function wallet(): PrivateKeyAccount {
  return privateKeyToAccount(generatePrivateKey());
}

export const addressOf = (account: PrivateKeyAccount) => account.address.toLowerCase() as Address;

export type Signing = Partial<Omit<Transfer, 'from'>> & { readonly domain?: Partial<TokenDomain> };

/** A real EIP-3009 signature; by default one that pays the price to the server, valid for a minute. */
export function sign(
  account: PrivateKeyAccount,
  { domain, ...transfer }: Signing = {},
): Promise<SignedTransfer> {
  return signTransfer(
    account,
    { ...tokenDomain(BASE_USDC), ...domain },
    { to: PAY_TO, value: PRICE, ...transfer },
  );
}

export function encode(object: unknown): string {
  return Buffer.from(JSON.stringify(object)).toString('base64');
}

export function v1Header(payload: SignedTransfer, { network = 'base' } = {}): string {
  return encode({ x402Version: 1, scheme: 'exact', network, payload });
}

export function v2Header(
  payload: SignedTransfer,
  { identifier, accepted = {} }: { identifier?: string; accepted?: object } = {},
): string {
  return encode({
    x402Version: 2,
    payload,
    accepted: {
      scheme: 'exact',
      network: BASE_USDC.network,
      amount: payload.authorization.value,
      asset: BASE_USDC.address,
      payTo: payload.authorization.to,
      maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
      extra: { name: BASE_USDC.name, version: BASE_USDC.version },
      ...accepted,
    },
    ...(identifier && {
      extensions: { 'payment-identifier': { info: { required: false, id: identifier } } },
    }),
  });
}

/** A payment of the wallet, good and fresh unless it is signed otherwise, as a request brings it. */
export async function paid(account = wallet(), signing: Signing = {}): Promise<{ paymentSignature: string }> {
  return { paymentSignature: v2Header(await sign(account, signing)) };
}

/** The payment that a client sent, as the gate passes it on. */
export function paymentOf(credentials: PaymentCredentials, asset = BASE_USDC): Payment {
  return { ...parsePaymentHeader(credentials)!.payment, asset };
}

export function receiptOf(answer: Pick<Answer, 'headers'>): Record<string, unknown> | undefined {
  const header = answer.headers['PAYMENT-RESPONSE'];
  return header === undefined
    ? undefined
    : (JSON.parse(Buffer.from(header, 'base64').toString()) as Record<string, unknown>);
}
