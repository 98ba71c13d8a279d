import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Address } from '@farthing/protocol/address';
import {
  type Journal,
  type JournalEntry,
  type JournalSum,
  type JournalTotals,
  type NotedRefund,
  totalsBy,
} from './journal.ts';

const PAGE = 1000;

/** The journals of several stores, read as one. */
export class Ledger {
  readonly #journals: readonly Journal[];

  constructor(journals: readonly Journal[]) {
    this.#journals = journals;
  }

  /** See `Journal.totals`. */
  totals(): JournalTotals {
    return totalsOf(this.#journals.map((journal) => journal.totals()));
  }

  /** See `Journal.dropped`. */
  dropped(): JournalTotals {
    return totalsOf(this.#journals.map((journal) => journal.dropped()));
  }

  /** Daily sums of settled payments, newest first; empty days are omitted. */
  days(limit: number): { readonly day: string; readonly settled: JournalSum }[] {
    const sums = new Map<string, JournalSum>();
    for (const journal of this.#journals)
      for (const { day, settled } of journal.days(limit))
        sums.set(day, sumOf([settled, ...(sums.has(day) ? [sums.get(day)!] : [])]));
    const newest = [...sums].sort(([a], [b]) => (a < b ? 1 : -1)).slice(0, limit);
    return newest.map(([day, settled]) => ({ day, settled }));
  }

  /** Payments whose money was sent back. */
  refunds(): NotedRefund[] {
    return this.#journals.flatMap((journal) => [...journal.refunds()]);
  }

  /** The last entry of a payer's payment, and the journal that has it. Reads all, and gives way while it does. */
  async find(payer: Address, nonce: string): Promise<{ journal: Journal; entry: JournalEntry } | undefined> {
    let found: { journal: Journal; entry: JournalEntry } | undefined;
    for (const journal of this.#journals) {
      let count = 0;
      for (const { key: _, ...entry } of pagesOf(journal, 0)) {
        if (entry.payer === payer && entry.nonce === nonce) found = { journal, entry };
        count += 1;
        if (count % PAGE === 0) await nextTurn();
      }
    }
    return found;
  }

  /** Entries from `since` (milliseconds) on, in order of time. */
  *entries(since: number): Generator<JournalEntry> {
    const sources = this.#journals.map((journal) => pagesOf(journal, since));
    const next = sources.map((source) => source.next());
    for (;;) {
      let first: number | undefined;
      for (const [index, { done, value }] of next.entries())
        if (!done && (first === undefined || value.time < next[first]!.value!.time)) first = index;
      if (first === undefined) return;
      yield next[first]!.value!;
      next[first] = sources[first]!.next();
    }
  }
}

/** Read in pages: an iteration over all would hold its snapshot. */
function* pagesOf(
  journal: Journal,
  since: number,
): Generator<JournalEntry & { readonly key: string }, undefined> {
  let after: string | undefined;
  for (;;) {
    const page = [...journal.entries({ since, after, limit: PAGE })];
    yield* page;
    if (page.length < PAGE) return undefined;
    after = page.at(-1)!.key;
  }
}

function totalsOf(all: readonly JournalTotals[]): JournalTotals {
  return totalsBy((kind) => sumOf(all.map((totals) => totals[kind])));
}

function sumOf(sums: readonly JournalSum[]): JournalSum {
  return {
    count: sums.reduce((sum, { count }) => sum + count, 0),
    amount: sums.reduce((sum, { amount }) => sum + BigInt(amount), 0n).toString(),
  };
}
