import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { formatUsd } from '../../domain/money.ts';
import { native } from '../../native/index.ts';
import { Journal, type JournalEntry, type JournalTotals } from '../../payment/records/journal.ts';
import { Ledger } from '../../payment/records/ledger.ts';
import { bookFolders } from '../../state/book-folders.ts';
import { openStore } from '../../state/store.ts';
import { type CommandIo, dataFolder, EXIT, UsageError } from '../io.ts';

const COLUMNS = [
  'time',
  'kind',
  'amount',
  'amount_usd',
  'network',
  'asset',
  'payer',
  'pay_to',
  'nonce',
  'route',
  'request_hash',
  'transaction',
  'reason',
] as const;
type Row = Readonly<Record<(typeof COLUMNS)[number], string>>;

export interface LedgerOptions {
  /** `csv` or `jsonl`. */
  readonly format: string;
  /** A date, or a time with its zone (ISO 8601). */
  readonly since: string | undefined;
}

/** Writes the entries of the journal of a stopped server, and explains its totals. @throws UsageError, Error with what to do */
export async function exportLedger(options: LedgerOptions, io: CommandIo): Promise<number> {
  const selection = selectionOf(options);
  const folder = dataFolder(io);
  const states = (await bookFolders(folder)).map((books) => join(books, 'state'));
  if (!states.every((state) => existsSync(state)))
    throw new Error(`FARTHING_DATA_DIR=${folder}: there is no ledger here`);
  const lock = native.lockFolder(folder);
  if (!lock) throw new Error(`FARTHING_DATA_DIR=${folder}: a running server uses this folder; stop it first`);
  const stores = states.map((state) => openStore(state));
  try {
    const ledger = new Ledger(stores.map((store) => new Journal(store)));
    exportEntries(ledger, selection, io);
    explainTotals(ledger, io);
    return EXIT.done;
  } finally {
    for (const store of stores) await store.close();
    lock.release();
  }
}

interface Selection {
  readonly format: 'csv' | 'jsonl';
  /** Milliseconds since the epoch. */
  readonly since: number;
}

function selectionOf({ format, since }: LedgerOptions): Selection {
  if (format !== 'csv' && format !== 'jsonl')
    throw new UsageError(`--format must be csv or jsonl, not "${format}".`);
  const time = since === undefined ? 0 : readTime(since);
  if (time === undefined)
    throw new UsageError(`--since must be a date or a time with its zone, not "${since}".`);
  return { format, since: time };
}

function readTime(text: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/.test(text)) return undefined;
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
}

function exportEntries(ledger: Ledger, { format, since }: Selection, { write }: CommandIo): void {
  if (format === 'csv') write(`${COLUMNS.join(',')}\r\n`);
  for (const entry of ledger.entries(since)) {
    const row = rowOf(entry);
    write(
      format === 'csv'
        ? `${COLUMNS.map((column) => csvCell(row[column])).join(',')}\r\n`
        : `${JSON.stringify(row)}\n`,
    );
  }
}

function rowOf(entry: JournalEntry): Row {
  return {
    time: new Date(entry.time).toISOString(),
    kind: entry.kind,
    amount: entry.amount,
    amount_usd: formatUsd(BigInt(entry.amount)),
    network: entry.network,
    asset: entry.asset,
    payer: entry.payer,
    pay_to: entry.payTo,
    nonce: entry.nonce,
    route: entry.route,
    request_hash: entry.requestHash,
    transaction: entry.transaction ?? '',
    reason: entry.reason ?? '',
  };
}

/** A cell by RFC 4180. What a spreadsheet would run as a formula gets a quote in front. */
function csvCell(value: string): string {
  const text = /^[=+\-@]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function explainTotals(ledger: Ledger, { explain }: CommandIo): void {
  const [totals, dropped] = [ledger.totals(), ledger.dropped()];
  for (const kind of Object.keys(totals) as (keyof JournalTotals)[]) {
    const { count, amount } = totals[kind];
    // Pending entries that were dropped are resolved: they are not in the sum.
    const old =
      kind === 'pending' || dropped[kind].count === 0
        ? ''
        : `, ${dropped[kind].count} of them no longer in the journal`;
    explain(`${kind}: ${count}, ${formatUsd(BigInt(amount))} USD${old}`);
  }
}
