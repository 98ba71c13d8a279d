import type { Address } from '@farthing/protocol/address';
import type { Asset } from './asset.ts';
import type { SentVoucher } from './channel/voucher.ts';

export type Hex = `0x${string}`;

/**
 * An EIP-3009 authorization, or a channel's voucher, as a client sent it, parsed and normalised; nothing about it is checked yet. A voucher
 * is good until the next one, `validBefore` is 0 but for a deposit, and its nonce is made of channel and total.
 */
export interface SentPayment {
  /** Version of the protocol that the client speaks; its receipt mirrors it. */
  readonly version: 1 | 2;
  readonly scheme: string;
  /** Name of the network as the client wrote it; its receipt mirrors it. */
  readonly networkName: string;
  readonly payer: Address;
  readonly payTo: Address;
  readonly value: bigint;
  /** Seconds since the epoch. */
  readonly validAfter: bigint;
  readonly validBefore: bigint;
  /** 32 bytes, lower case. */
  readonly nonce: Hex;
  /** Lower case; 65 bytes for a plain wallet, any number for a contract wallet. */
  readonly signature: Hex;
  /** No plain wallet's signature, whatever its length: the chain alone can tell whether it is a contract's (ERC-1271, EIP-7702). */
  readonly mayBeOfContract?: boolean;
  /** Of the scheme `batch-settlement` alone. */
  readonly voucher?: SentVoucher;
  /** Terms that a v2 client says it accepted; v1 payments don't carry them. */
  readonly accepted?: { readonly asset?: string; readonly payTo?: string; readonly amount?: string };
}

/** An authorization in a coin that is taken here. */
export interface Payment extends SentPayment {
  readonly asset: Asset;
}

/** Identity of a payment, whatever its encoding. */
export function paymentKey({ asset, payer, nonce }: Payment): string {
  return `${asset.network}/${asset.address}/${payer}/${nonce}`;
}

/** The signed fields and the signature. */
export function isSameAuthorization(a: Payment, b: Payment): boolean {
  return authorizationText(a) === authorizationText(b);
}

export function authorizationText(payment: Payment): string {
  const { payTo, value, validAfter, validBefore, signature, voucher } = payment;
  const fields = [paymentKey(payment), payTo, value, validAfter, validBefore, signature];
  return [...fields, voucher?.deposit?.signature].join('/');
}

/** The coin of a payment with this identity. @throws Error for one that is not among `assets` */
export function assetOfKey(key: string, assets: readonly Asset[]): Asset {
  const [network, address] = key.split('/');
  const found = assets.find((asset) => asset.network === network && asset.address === address);
  if (!found) throw new Error(`the payment ${key} is in a coin that this version does not know`);
  return found;
}

/** Purpose of the payment, as facilitators require it. */
export interface Terms {
  readonly amount: bigint;
  readonly resource: string;
  readonly description: string;
  /** Prepaid money goes back to its payer: allowed for balances that were idle for too long to be spent. */
  readonly isRefund?: boolean;
  /** Prepayments are refundable, so they count only after the chain confirms them. */
  readonly isAdvance?: boolean;
  /** The `bazaar` extension of the route: facilitators that keep a catalogue read it from the payment. */
  readonly bazaar?: Readonly<Record<string, unknown>>;
  /** The same for payments of x402 v1, whose catalogues read it from the requirements. */
  readonly outputSchema?: Readonly<Record<string, unknown>>;
}
