import type { SettledBy } from '../facilitator/facilitator.ts';
import type { Payment, Terms } from '../payment.ts';
import type { Effect, PaymentTiming } from '../purchase.ts';

/** Fields of a payment's record in every state. No content: the answer lies in the Tenant's folder. */
export interface EveryRecord {
  readonly payment: Payment;
  readonly terms: Terms;
  /** `POST /agent/v1/search`: ids are left out. */
  readonly route: string;
  readonly requestHash: string;
  /** Hash of the request's idempotency key, when it has one. */
  readonly keyHash?: string;
  /** Effect that the payment buys beside an answer; known once the work is done. */
  readonly effect?: Effect;
  /** Known once the settlement has been answered. */
  readonly timing?: PaymentTiming;
  /** Known at most once the settlement has been answered, for the ledger. */
  readonly by?: SettledBy;
}

/** The authorization is taken; no settlement has been sent that could not be asked for. */
export interface Reserved extends EveryRecord {
  readonly state: 'reserved';
}

/** The settlement may have been sent: after a crash its outcome must be asked for. */
export interface Settling extends EveryRecord {
  readonly state: 'settling';
}

/** The settlement was sent and its answer is lost; a pending entry stands in the journal. */
export interface Pending extends EveryRecord {
  readonly state: 'pending';
}

/** Certainly not charged, and the effect has to go. */
export interface Undoing extends EveryRecord {
  readonly state: 'undoing';
  /** A pending entry stands in the journal. */
  readonly wasPending: boolean;
  /** Why the settlement was refused, for the ledger; undefined when none was sent. */
  readonly refusal?: string;
}

/** The outcome of a settlement that counts. */
export interface Charged extends EveryRecord {
  /** Hash of the transaction; empty if unknown. */
  readonly transaction: string;
  /** Further data from the facilitator for the client. */
  readonly extra?: Readonly<Record<string, unknown>>;
  /** The facilitator never reported the outcome, and the authorization ended: the payer may have been charged. */
  readonly presumed: boolean;
  readonly timing: PaymentTiming;
  /** Milliseconds since the epoch: the record and its answer are retained until then. */
  readonly keepUntil: number;
}

/** Charged: the answer belongs to the payer. An effect still has to be committed. */
export interface Settled extends Charged {
  readonly state: 'settled';
}

/** Charged, and the effect stands. */
export interface Committed extends Charged {
  readonly state: 'committed';
  readonly effect: Effect;
}

/** Charged, and the answer was handed to the network. */
export interface Delivered extends Charged {
  readonly state: 'delivered';
}

export type ChargedRecord = Settled | Committed | Delivered;
export type PaymentRecord = Reserved | Settling | Pending | Undoing | ChargedRecord;
export type PaymentState = PaymentRecord['state'];

/** Payments whose settlement may still succeed. */
export type Chargeable = Reserved | Settling | Pending;

/** A payment without a record: not begun, or forgotten. */
export const NO_RECORD = 'none';

/** Every change of state that there is; docs/payments.md draws them. */
const NEXT: Readonly<Record<PaymentState | typeof NO_RECORD, readonly (PaymentState | typeof NO_RECORD)[]>> =
  {
    none: ['reserved', 'settling'],
    reserved: ['settling', 'pending', 'settled', 'delivered', 'undoing', 'none'],
    settling: ['pending', 'settled', 'delivered', 'undoing', 'none'],
    pending: ['settled', 'undoing', 'none'],
    undoing: ['none'],
    settled: ['committed', 'delivered', 'none'],
    committed: ['delivered', 'none'],
    delivered: ['none'],
  };

/** True for a change that may be written; a record may always be written again in its own state. */
export function paymentMayPass(
  from: PaymentState | typeof NO_RECORD,
  to: PaymentState | typeof NO_RECORD,
): boolean {
  return from === to || NEXT[from].includes(to);
}

/** True while a start has to look at the payment: it is neither finished nor gone. */
export function isOpen(record: PaymentRecord): boolean {
  switch (record.state) {
    case 'reserved':
    case 'settling':
    case 'pending':
    case 'undoing':
      return true;
    case 'settled':
      return record.effect !== undefined;
    case 'committed':
    case 'delivered':
      return false;
    default:
      return record satisfies never;
  }
}

export function isCharged(record: PaymentRecord): record is ChargedRecord {
  switch (record.state) {
    case 'settled':
    case 'committed':
    case 'delivered':
      return true;
    case 'reserved':
    case 'settling':
    case 'pending':
    case 'undoing':
      return false;
    default:
      return record satisfies never;
  }
}

export function asCommitted(record: Settled, effect: Effect): Committed {
  return { ...record, effect, state: 'committed' };
}

/** `refusal`: why the settlement was refused. */
export function asUndoing(record: Chargeable | Undoing, refusal: string | undefined): Undoing {
  return { ...record, state: 'undoing', wasPending: isBookedAsPending(record), refusal };
}

/** True while the journal's last entry on the payment is that its outcome is unknown. */
export function isBookedAsPending(record: PaymentRecord): boolean {
  return record.state === 'pending' || (record.state === 'undoing' && record.wasPending);
}
