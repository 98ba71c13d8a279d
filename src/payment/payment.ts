import type { Address } from '../domain/payment.ts';

export type Hex = `0x${string}`;

/** An EIP-3009 authorization as a client sent it, parsed and normalised; nothing about it is checked yet. */
export interface Payment {
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
  /** Lower case; 65 bytes for a plain wallet, more for a contract wallet. */
  readonly signature: Hex;
  /** What a v2 client says that it accepted; v1 payments don't carry it. */
  readonly accepted?: { readonly asset?: string; readonly payTo?: string; readonly amount?: string };
}

/** What the payment is for, as a facilitator has to know it. */
export interface Terms {
  readonly amount: bigint;
  readonly resource: string;
  readonly description: string;
  /** The `bazaar` extension of the route: facilitators that keep a catalogue read it from the payment. */
  readonly bazaar?: Readonly<Record<string, unknown>>;
}
