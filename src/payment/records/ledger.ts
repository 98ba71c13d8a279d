import type { Journal, JournalEntry, JournalKind, JournalSum, JournalTotals } from './journal.ts';

const KINDS: readonly JournalKind[] = ['settled', 'prepaid', 'returned', 'refused', 'pending', 'presumed'];
const PAGE = 1000;

/** The journals of several sets of books, read as one. */
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

  /** What was settled on each day with any, newest first. */
  days(limit: number): { readonly day: string; readonly settled: JournalSum }[] {
    const sums = new Map<string, JournalSum>();
    for (const journal of this.#journals)
      for (const { day, settled } of journal.days(limit))
        sums.set(day, sumOf([settled, ...(sums.has(day) ? [sums.get(day)!] : [])]));
    const newest = [...sums].sort(([a], [b]) => (a < b ? 1 : -1)).slice(0, limit);
    return newest.map(([day, settled]) => ({ day, settled }));
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
function* pagesOf(journal: Journal, since: number): Generator<JournalEntry, undefined> {
  let after: string | undefined;
  for (;;) {
    const page = [...journal.entries({ since, after, limit: PAGE })];
    yield* page;
    if (page.length < PAGE) return undefined;
    after = page.at(-1)!.key;
  }
}

function totalsOf(all: readonly JournalTotals[]): JournalTotals {
  const sums = KINDS.map((kind) => [kind, sumOf(all.map((totals) => totals[kind]))]);
  return Object.fromEntries(sums) as JournalTotals;
}

function sumOf(sums: readonly JournalSum[]): JournalSum {
  return {
    count: sums.reduce((sum, { count }) => sum + count, 0),
    amount: sums.reduce((sum, { amount }) => sum + BigInt(amount), 0n).toString(),
  };
}
