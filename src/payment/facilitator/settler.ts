import type { Asset } from '../asset.ts';
import type { Payment, Terms } from '../payment.ts';
import type { Circuit } from './circuit.ts';
import type { GasHealth, SettledBy, Settlement, Verification } from './facilitator.ts';

/** Outcome of a settlement as its settler reports it. `not_sent` and `turned_away`: it did not act upon the request. */
export type Told =
  | Settlement
  | { readonly kind: 'turned_away'; readonly detail: string }
  /** `tooDear`: it would have cost more than it brings in. */
  | { readonly kind: 'not_sent'; readonly detail: string; readonly tooDear?: boolean };

/** A settler's response, and whether the settler works, whatever it said about the payment. */
export interface Heard<T> {
  readonly told: T;
  readonly works: boolean;
}

/** One of those that `FARTHING_FACILITATOR` names, in the order in which they are asked: over HTTP, or this server itself. */
export interface Settler {
  /** How the operator knows it: its address, or `self`. */
  readonly url: string;
  readonly verifying: Circuit;
  readonly settling: Circuit;
  /** It reads the chain itself: its report is as good as the witness's. */
  readonly isWitness: boolean;
  /** Its last report on the extensions of a payment, as JSON; undefined when there is none. */
  readonly extensions: unknown;
  /** State of its gas wallet; undefined for one that uses no gas of ours. */
  gas(): GasHealth | undefined;
  /** Absent: it cannot tell. @returns undefined for a transaction that it did not send @throws when the chain cannot be asked */
  sent?(transaction: string): Promise<SettledBy | undefined>;
  /** False for one that is known to settle nothing in this coin. */
  settles(asset: Asset): boolean;
  /** Why nothing can be sold through it at this moment; undefined where it can, for all that is known. */
  obstacle(): string | undefined;
  /** Why a settlement of `amount` (units of the coin) would cost more than it brings in; undefined where it does not. Absent: it costs no gas of ours. */
  tooDear?(amount: bigint): string | undefined;
  /** Reads what it settles. @returns what is wrong, if anything */
  read(): Promise<string | undefined>;
  /** Tries a harmless verification, unless one was answered of late. Absent: it needs none. @returns why none can be made */
  check?(): Promise<string | undefined>;
  /** Milliseconds that it asked to be left alone for, from now on; 0 where it did not. */
  restMs?(call: 'verify' | 'settle'): number;
  /** The verification, or what is wrong with the settler. Never throws. */
  verify(payment: Payment, terms: Terms, deadlineMs: number): Promise<Heard<Verification | string>>;
  /** Never throws. The same payment once more moves nothing more. */
  settle(payment: Payment, terms: Terms, deadlineMs: number): Promise<Heard<Told>>;
}
