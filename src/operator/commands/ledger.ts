import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { formatUsd } from '../../domain/money.ts';
import { native } from '../../native/index.ts';
import { Journal, type JournalEntry, type JournalTotals } from '../../payment/records/journal.ts';
import { openStore } from '../../state/store.ts';
import { type CommandIo, dataFolder, EXIT, UsageError } from './io.ts';

const PAGE_ENTRIES = 1000;
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
  if (!existsSync(join(folder, 'state')))
    throw new Error(`FARTHING_DATA_DIR=${folder}: there is no ledger here`);
  const lock = native.lockFolder(folder);
  if (!lock) throw new Error(`FARTHING_DATA_DIR=${folder}: a running server uses this folder; stop it first`);
  const store = openStore(join(folder, 'state'));
  try {
    const journal = new Journal(store);
    exportEntries(journal, selection, io);
    explainTotals(journal, io);
    return EXIT.done;
  } finally {
    await store.close();
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

function exportEntries(journal: Journal, { format, since }: Selection, { write }: CommandIo): void {
  if (format === 'csv') write(`${COLUMNS.join(',')}\r\n`);
  let after: string | undefined;
  for (;;) {
    const page = [...journal.entries({ since, after, limit: PAGE_ENTRIES })];
    for (const entry of page) {
      const row = rowOf(entry);
      write(
        format === 'csv'
          ? `${COLUMNS.map((column) => csvCell(row[column])).join(',')}\r\n`
          : `${JSON.stringify(row)}\n`,
      );
    }
    if (page.length < PAGE_ENTRIES) return;
    after = page.at(-1)!.key;
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

function explainTotals(journal: Journal, { explain }: CommandIo): void {
  const [totals, dropped] = [journal.totals(), journal.dropped()];
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
