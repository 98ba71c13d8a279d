import type { Address } from '@farthing/protocol/address';
import type { Store, Table } from '../store.ts';

/**
 * Kind of an event of a payment. `prepaid`: it was taken from money that was settled before. `voucher`: it was taken from a channel, whose
 * money is in escrow; `claimed`: that of several vouchers came in. `presumed`: the facilitator never reported the
 * outcome, and the authorization has ended; the answer stays deliverable, because the payer may have been charged. `returned`: prepaid
 * money that bought minutes which were not used. `refunded`: the operator has sent the money back.
 */
export type JournalKind = (typeof JOURNAL_KINDS)[number];

export const JOURNAL_KINDS = [
  'settled',
  'prepaid',
  'voucher',
  'claimed',
  'returned',
  'refused',
  'pending',
  'presumed',
  'refunded',
] as const;

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
  /** See `SettledBy`. */
  readonly facilitator?: string;
  readonly gasWei?: string;
  readonly gasUnits?: string;
  /** Hash of the transaction that sent the money back; `refunded` alone. */
  readonly refund?: string;
}

/** Money of a payment that was sent back. */
export interface NotedRefund {
  readonly payer: Address;
  /** Decimal, in the asset's smallest unit. */
  readonly amount: string;
  readonly transaction: string;
}

/** How many and how much; amounts are decimal strings of the asset's smallest unit. */
export interface JournalSum {
  readonly count: number;
  readonly amount: string;
}

export type JournalTotals = Readonly<Record<JournalKind, JournalSum>>;

/** How much history is retained. */
export interface JournalLimits {
  readonly keepDays: number;
  readonly entriesMax: number;
}

const DAY_MS = 86_400_000;
/** Entries that one pruning drops at most: the writer is not held up. */
const PRUNED_MAX = 1000;
const NOTHING: JournalSum = { count: 0, amount: '0' };
const SEQUENCE_DIGITS = 16;
const TIME_DIGITS = 15;

/** One store's ledger: append-only entries in order of time, and totals that are written with them. */
export class Journal {
  readonly #entries: Table<JournalEntry>;
  readonly #totals: Table<JournalSum>;
  /** Sums of the entries that were pruned, so that totals can still be reconciled with the entries. */
  readonly #dropped: Table<JournalSum>;
  /** Settled payments, vouchers among them, by day (UTC), a row a day. */
  readonly #days: Table<JournalSum>;
  /** By payment. They outlive their entries, so that none is refunded twice. */
  readonly #refunds: Table<NotedRefund>;
  readonly #store: Store;
  #sequence = 0;
  #lastTime = 0;

  constructor(store: Store) {
    this.#entries = store.table('journal');
    this.#totals = store.table('journal_totals');
    this.#dropped = store.table('journal_dropped');
    this.#days = store.table('journal_days');
    this.#refunds = store.table('journal_refunds');
    this.#store = store;
    for (const { key } of this.#entries.range({ reverse: true, limit: 1 })) {
      this.#lastTime = Number(key.slice(0, TIME_DIGITS));
      this.#sequence = Number(key.slice(TIME_DIGITS + 1));
    }
  }

  /** Appends within a transaction of the store. `resolves`: a pending entry of the same payment ends with this one. */
  append(entry: JournalEntry, { resolves = false } = {}): void {
    this.#entries.put(this.#nextKey(entry.time), entry);
    addTo(this.#totals, entry.kind, 1, BigInt(entry.amount));
    if (entry.kind === 'settled' || entry.kind === 'voucher')
      addTo(this.#days, dayOf(entry.time), 1, BigInt(entry.amount));
    if (resolves) addTo(this.#totals, 'pending', -1, -BigInt(entry.amount));
  }

  /** The operator has sent a payment's money back. @returns false for one that is noted already */
  refund(entry: JournalEntry, transaction: string, time: number): Promise<boolean> {
    const { payer, amount } = entry;
    const key = paymentOf(entry);
    return this.#store.transaction(() => {
      if (this.#refunds.get(key)) return false;
      this.#refunds.put(key, { payer, amount, transaction });
      this.append({ ...entry, kind: 'refunded', time, refund: transaction });
      return true;
    });
  }

  *refunds(): Iterable<NotedRefund> {
    for (const { value } of this.#refunds.range()) yield value;
  }

  /** Sums over all time; `pending` is what is open now. */
  totals(): JournalTotals {
    return sumsOf(this.#totals);
  }

  /** Daily sums of settled payments, newest first; empty days and those before this release are omitted. */
  days(limit: number): { readonly day: string; readonly settled: JournalSum }[] {
    return [...this.#days.range({ reverse: true, limit })].map(({ key, value }) => ({
      day: key,
      settled: value,
    }));
  }

  /** Sums of removed entries. But for `pending`, which are resolved: totals = dropped + entries. */
  dropped(): JournalTotals {
    return sumsOf(this.#dropped);
  }

  /** Drops the oldest entries, at most a thousand at a time; their sums stay in the totals. @returns how many */
  async prune(now: number, { keepDays, entriesMax }: JournalLimits): Promise<number> {
    const over = Math.min(PRUNED_MAX, this.#entries.count() - entriesMax);
    const old = [...this.#entries.range({ end: timeKey(now - keepDays * DAY_MS), limit: PRUNED_MAX })];
    const due = over > old.length ? [...this.#entries.range({ limit: over })] : old;
    if (due.length === 0) return 0;
    await this.#store.transaction(() => {
      for (const { key, value } of due) {
        this.#entries.remove(key);
        addTo(this.#dropped, value.kind, 1, BigInt(value.amount));
      }
    });
    return due.length;
  }

  /** Entries from `since` (milliseconds) on, in order of time. The snapshot is held while iterating: read in pages of `limit`. */
  *entries({ since = 0, after, limit }: { since?: number; after?: string; limit?: number } = {}) {
    const start = after === undefined ? timeKey(since) : `${after}\u0000`;
    for (const { key, value } of this.#entries.range({ start, limit })) yield { key, ...value };
  }

  /** Payers of the newest settled payments, the latest last. @param limit entries that are read */
  recentPayers(limit: number): Address[] {
    const settled = Array.from(this.#entries.range({ reverse: true, limit }), ({ value }) => value).filter(
      ({ kind }) => kind === 'settled' || kind === 'prepaid' || kind === 'voucher',
    );
    return [...new Set(settled.map(({ payer }) => payer))].reverse();
  }

  /** Keys ascend even when the clock is set back: the order is that of the appending. */
  #nextKey(time: number): string {
    this.#sequence += 1;
    this.#lastTime = Math.max(this.#lastTime, Math.floor(time));
    return `${timeKey(this.#lastTime)}-${this.#sequence.toString().padStart(SEQUENCE_DIGITS, '0')}`;
  }
}

/** Which payment an entry is about. */
export function paymentOf({ network, asset, payer, nonce }: JournalEntry): string {
  return `${network}/${asset}/${payer}/${nonce}`;
}

function sumsOf(table: Table<JournalSum>): JournalTotals {
  return totalsBy((kind) => table.get(kind) ?? NOTHING);
}

/** The sum of each kind. */
export function totalsBy(sum: (kind: JournalKind) => JournalSum): JournalTotals {
  return Object.fromEntries(JOURNAL_KINDS.map((kind) => [kind, sum(kind)])) as JournalTotals;
}

function addTo(table: Table<JournalSum>, key: string, count: number, amount: bigint): void {
  const sum = table.get(key) ?? NOTHING;
  table.put(key, { count: sum.count + count, amount: (BigInt(sum.amount) + amount).toString() });
}

/** `2026-11-22`: these sort by time. */
function dayOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 10);
}

function timeKey(milliseconds: number): string {
  return Math.max(0, Math.floor(milliseconds)).toString().padStart(TIME_DIGITS, '0');
}
