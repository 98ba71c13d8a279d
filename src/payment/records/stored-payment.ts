import type { Asset } from '../asset.ts';
import type { SentPayment } from '../payment.ts';
import type { PaymentTiming } from '../purchase.ts';
import type { EveryRecord, PaymentRecord } from './payment-record.ts';

/** A payment's record as it lies on the disk: four states, and marks that tell the others apart. */
export interface StoredPayment extends Omit<EveryRecord, 'payment'> {
  readonly state: 'reserved' | 'settling' | 'settled' | 'undoing';
  /** Its coin is named by the record's key. */
  readonly payment: SentPayment;
  /** In `settling`: its answer is lost. In `undoing`: it was, before it was refused. */
  readonly pending?: boolean;
  readonly refusal?: string;
  readonly committed?: boolean;
  readonly delivered?: boolean;
  readonly transaction?: string;
  readonly extra?: Readonly<Record<string, unknown>>;
  readonly presumed?: boolean;
  readonly keepUntil?: number;
}

export const NO_TIMING: PaymentTiming = { verify_ms: 0, settle_ms: 0 };

export function readPayment(stored: StoredPayment, asset: Asset): PaymentRecord {
  const payment = { ...stored.payment, asset };
  const { terms, route, requestHash, keyHash, effect, timing, by } = stored;
  const common = { payment, terms, route, requestHash, keyHash, effect, timing, by };
  switch (stored.state) {
    case 'reserved':
      return { ...common, state: 'reserved' };
    case 'settling':
      return { ...common, state: stored.pending ? 'pending' : 'settling' };
    case 'undoing':
      return { ...common, state: 'undoing', wasPending: stored.pending === true, refusal: stored.refusal };
    case 'settled': {
      const { transaction = '', extra, presumed = false, keepUntil = 0, committed, delivered } = stored;
      const charged = { ...common, transaction, extra, presumed, keepUntil, timing: timing ?? NO_TIMING };
      if (effect && !committed) return { ...charged, state: 'settled' };
      if (delivered) return { ...charged, state: 'delivered' };
      return effect ? { ...charged, effect, state: 'committed' } : { ...charged, state: 'settled' };
    }
    default:
      return stored.state satisfies never;
  }
}

export function storedPayment(record: PaymentRecord): StoredPayment {
  const { asset: _, ...payment } = record.payment;
  switch (record.state) {
    case 'reserved':
    case 'settling':
    case 'settled':
      return { ...record, payment };
    case 'pending':
      return { ...record, payment, state: 'settling', pending: true };
    case 'undoing': {
      const { wasPending, ...rest } = record;
      return { ...rest, payment, pending: wasPending };
    }
    case 'committed':
      return { ...record, payment, state: 'settled', committed: true };
    case 'delivered': {
      const committed = record.effect !== undefined;
      return { ...record, payment, state: 'settled', delivered: true, committed };
    }
    default:
      return record satisfies never;
  }
}
