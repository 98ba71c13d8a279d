import type { AtomicAmount } from '../domain/money.ts';
import type { PaymentTiming } from '../domain/payment.ts';
import type { PaymentFault } from './fault.ts';

/**
 * How a request to a paid route ended, for whoever counts. Money is counted from the books (`Journal.totals()`), which know what
 * was settled in the background, too.
 */
export type PaymentEvent = { readonly route: string } & (
  | { readonly kind: 'quoted' }
  | { readonly kind: 'refused'; readonly reason: PaymentFault | 'other' }
  | { readonly kind: 'sold'; readonly amount: AtomicAmount; readonly timing: PaymentTiming }
  /** An empty index, a duplicate, a used credit. */
  | { readonly kind: 'uncharged' }
  /** An answer that was paid for before, or by the copy that it joined. */
  | { readonly kind: 'repeated' }
);
