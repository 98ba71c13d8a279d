import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { JournalEntry, JournalTotals } from '@farthing/payment/records/journal';
import type { Ledger } from '@farthing/payment/records/ledger';
import type { Liabilities } from './liabilities.ts';

/** The ledger of a data folder, with or without a running server. */
export interface LedgerSource {
  /** From `since` (milliseconds) on, in order of time. May be called again. */
  entries(since: number): AsyncIterable<JournalEntry> | Iterable<JournalEntry>;
  sums(): Promise<LedgerSums>;
  liabilities(): Promise<Liabilities>;
  close(): Promise<void>;
}

export interface LedgerSums {
  readonly totals: JournalTotals;
  /** Sums of the entries that were dropped. */
  readonly dropped: JournalTotals;
}

/** The last line of a running server's ledger. */
export interface LedgerEnd {
  readonly sums: LedgerSums;
  readonly liabilities: Liabilities;
}

/** Answers with the entries from `since` (milliseconds) on, a line of JSON each, and a `LedgerEnd` as the last line. */
export function streamLedger(
  ledger: Ledger,
  liabilities: Liabilities,
  { since, answer }: { readonly since: number; readonly answer: ServerResponse },
): Promise<void> {
  answer.writeHead(200, { 'Content-Type': 'application/x-ndjson' });
  return pipeline(Readable.from(linesOf(ledger, liabilities, since)), answer);
}

function* linesOf(ledger: Ledger, liabilities: Liabilities, since: number): Generator<string> {
  for (const entry of ledger.entries(since)) yield `${JSON.stringify(entry)}\n`;
  const sums: LedgerSums = { totals: ledger.totals(), dropped: ledger.dropped() };
  yield `${JSON.stringify({ sums, liabilities } satisfies LedgerEnd)}\n`;
}
