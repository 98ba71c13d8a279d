import type { Asset } from '../asset.ts';
import type { Payment, Terms } from '../payment.ts';

export type Verification = { readonly valid: true } | { readonly valid: false; readonly reason: string };

/** Sender and cost of a payment's transaction, as far as either is known. */
export interface SettledBy {
  /** A facilitator's address, `self`, or `local`. */
  readonly facilitator?: string;
  /** Wei that this server's gas wallet paid; decimal. */
  readonly gasWei?: string;
  /** The same in units of the payment's coin at the price of that time, rounded up; decimal. */
  readonly gasUnits?: string;
}

export type Settlement =
  | {
      readonly kind: 'settled';
      readonly transaction: string;
      readonly by?: SettledBy;
      readonly extra?: Readonly<Record<string, unknown>>;
      /** The nonce is used by an unknown transaction: its payer may have cancelled the authorization, or paid another recipient with it. */
      readonly unproven?: true;
    }
  /** Certain: nothing was moved and nothing will be. */
  | { readonly kind: 'refused'; readonly reason: string; readonly by?: SettledBy }
  /** It may or may not have been settled: ask `reconcile` later. */
  | { readonly kind: 'unknown'; readonly detail: string };

/** The wallet that pays for the transactions of this server's own facilitator. */
export interface GasHealth {
  readonly network: Asset['network'];
  readonly address: string;
  /** What the network's gas is paid in, such as ETH. */
  readonly coin: string;
  /** Its coins; decimal. */
  readonly eth: string;
  /** Dollars that one counts as. */
  readonly coin_usd: number;
  /** Dollars of gas for a settlement alone in its transaction, at the present fees; decimal. */
  readonly settlement_usd: string;
  /** Settlements that it can pay for at the present fees. */
  readonly settlements_left: number;
  /** Transactions that are not mined yet. */
  readonly waiting: number;
  /** Seconds that the oldest of them has waited. */
  readonly oldest_wait_s: number;
}

export interface FacilitatorHealth {
  /** Kind of the first facilitator. */
  readonly kind: 'local' | 'remote' | 'self';
  readonly movesMoney: boolean;
  readonly url?: string;
  /** Its last failure, until it works again. */
  readonly trouble?: string;
  /** Why nothing can be sold at this moment. */
  readonly obstacle?: string;
  /** Absent where this server settles nothing itself, or has not read the chain yet. */
  readonly gas?: GasHealth;
  /** Its last report on the extensions of a payment, such as the catalogue's. */
  readonly extensions?: unknown;
}

/** Checks that a payer can pay, and moves the money. One contract suite holds for every implementation. */
export interface Facilitator {
  /**
   * True when `reconcile` determines at once, for certain and without moving money, whether a payment was settled. The gate then needs no
   * durable record of its own before it settles.
   */
  readonly outcomeIsKnowable: boolean;
  /** Can it judge signatures of contract wallets (longer than 65 bytes)? */
  readonly verifiesContractWallets: boolean;
  /** @throws facilitator_unavailable when it cannot be asked, or answers what it may not. */
  verify(payment: Payment, terms: Terms): Promise<Verification>;
  /** A verdict that nobody is asked for, and so waits behind nobody; undefined for a payment that has to be verified. Absent: all have to. */
  verifyHere?(payment: Payment, terms: Terms): Verification | undefined;
  /** Moves the money once, however often it is called. @throws facilitator_unavailable when it did not act upon the request: anything else that is thrown leaves the outcome unknown. */
  settle(payment: Payment, terms: Terms): Promise<Settlement>;
  /** Determines the outcome of a settlement whose answer was lost. `absent`: it never happened. Never throws. */
  reconcile(payment: Payment, terms: Terms): Promise<Settlement | { readonly kind: 'absent' }>;
  /** Why a sale of `amount` (units of the coin) is not made: settling it would cost more. Undefined where it is. Absent: nothing is known to cost. */
  tooDear?(amount: bigint): string | undefined;
  /** Reads what it supports. @throws facilitator_unavailable when nothing can be sold */
  connect(): Promise<void>;
  health(): FacilitatorHealth;
}
