import type { Address } from '../domain/payment.ts';
import type { Store, Table } from '../state/store.ts';

/**
 * What happened to a payment. `presumed`: the facilitator never told the outcome, and the authorization has ended; the
 * answer stays deliverable, because the payer may have been charged.
 */
export type JournalKind = 'settled' | 'refused' | 'pending' | 'presumed';

export interface JournalEntry {
  readonly kind: JournalKind;
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly network: string;
  readonly asset: Address;
  readonly payer: Address;
  readonly payTo: Address;
  readonly nonce: string;
  /** Decimal, in the asset's smallest unit. */
  readonly amount: string;
  readonly route: string;
  readonly requestHash: string;
  readonly transaction?: string;
  readonly reason?: string;
}

/** How many and how much; amounts are decimal strings of the asset's smallest unit. */
export interface JournalSum {
  readonly count: number;
  readonly amount: string;
}

export type JournalTotals = Readonly<Record<JournalKind, JournalSum>>;

const NOTHING: JournalSum = { count: 0, amount: '0' };
const SEQUENCE_DIGITS = 16;
const TIME_DIGITS = 15;

/** The books: append-only entries in order of time, and totals that are written with them. */
export class Journal {
  readonly #entries: Table<JournalEntry>;
  readonly #totals: Table<JournalSum>;
  #sequence = 0;
  #lastTime = 0;

  constructor(store: Store) {
    this.#entries = store.table('journal');
    this.#totals = store.table('journal_totals');
    for (const { key } of this.#entries.range({ reverse: true, limit: 1 })) {
      this.#lastTime = Number(key.slice(0, TIME_DIGITS));
      this.#sequence = Number(key.slice(TIME_DIGITS + 1));
    }
  }

  /** Appends within a transaction of the store. `resolves`: a pending entry of the same payment ends with this one. */
  append(entry: JournalEntry, { resolves = false } = {}): void {
    this.#entries.put(this.#nextKey(entry.time), entry);
    this.#add(entry.kind, 1, BigInt(entry.amount));
    if (resolves) this.#add('pending', -1, -BigInt(entry.amount));
  }

  /** Sums over all time; `pending` is what is open now. */
  totals(): JournalTotals {
    const sum = (kind: JournalKind) => this.#totals.get(kind) ?? NOTHING;
    return {
      settled: sum('settled'),
      refused: sum('refused'),
      pending: sum('pending'),
      presumed: sum('presumed'),
    };
  }

  /** Entries from `since` (milliseconds) on, in order of time. The snapshot is held while iterating: read in pages of `limit`. */
  *entries({ since = 0, after, limit }: { since?: number; after?: string; limit?: number } = {}) {
    const start = after === undefined ? timeKey(since) : `${after}\u0000`;
    for (const { key, value } of this.#entries.range({ start, limit })) yield { key, ...value };
  }

  #add(kind: JournalKind, count: number, amount: bigint): void {
    const sum = this.#totals.get(kind) ?? NOTHING;
    this.#totals.put(kind, { count: sum.count + count, amount: (BigInt(sum.amount) + amount).toString() });
  }

  /** Keys ascend even when the clock is set back: the order is that of the appending. */
  #nextKey(time: number): string {
    this.#sequence += 1;
    this.#lastTime = Math.max(this.#lastTime, Math.floor(time));
    return `${timeKey(this.#lastTime)}-${this.#sequence.toString().padStart(SEQUENCE_DIGITS, '0')}`;
  }
}

function timeKey(milliseconds: number): string {
  return Math.max(0, Math.floor(milliseconds)).toString().padStart(TIME_DIGITS, '0');
}
