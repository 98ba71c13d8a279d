import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { formatUsd } from '../../domain/money.ts';
import { native } from '../../native/index.ts';
import { Journal, type JournalEntry, type JournalTotals } from '../../payment/records/journal.ts';
import { ConfigError, readConfig } from '../../settings/config.ts';
import { openStore } from '../../state/store.ts';

/** What a command needs of its process. */
export interface CommandIo {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Writes to the standard output, as it is. */
  write(text: string): void;
  /** One line for a human, on the standard error. */
  explain(line: string): void;
}

const USAGE =
  'farthing ledger export [--format csv|jsonl] [--since 2026-01-31 | 2026-01-31T12:00:00Z]: the books of a stopped server';
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

/** `farthing ledger export`: writes the journal and explains its totals. @returns the exit status: 2 for a wrong use. */
export async function ledgerCommand(args: readonly string[], io: CommandIo): Promise<number> {
  const asked = readArguments(args);
  if (typeof asked === 'string') {
    io.explain(`${asked}\n${USAGE}`);
    return 2;
  }
  let folder: string;
  try {
    folder = resolve(readConfig(io.environment).DATA_DIR);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    io.explain(error.message);
    return 2;
  }
  if (!existsSync(join(folder, 'state'))) {
    io.explain(`FARTHING_DATA_DIR=${folder}: there is no ledger here`);
    return 1;
  }
  const lock = native.lockFolder(folder);
  if (!lock) {
    io.explain(`FARTHING_DATA_DIR=${folder}: a running server uses this folder; stop it first`);
    return 1;
  }
  const store = openStore(join(folder, 'state'));
  try {
    const journal = new Journal(store);
    exportEntries(journal, asked, io);
    explainTotals(journal, io);
    return 0;
  } finally {
    await store.close();
    lock.release();
  }
}

interface Asked {
  readonly format: 'csv' | 'jsonl';
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/** @returns what is wrong with them, in words. */
function readArguments(args: readonly string[]): Asked | string {
  const [verb, ...rest] = args;
  if (verb !== 'export') return verb === undefined ? 'Which command?' : `There is no command "${verb}".`;
  try {
    const { values } = parseArgs({
      args: rest,
      options: { format: { type: 'string', default: 'jsonl' }, since: { type: 'string' } },
    });
    const { format, since } = values;
    if (format !== 'csv' && format !== 'jsonl') return `--format must be csv or jsonl, not "${format}".`;
    const time = since === undefined ? 0 : readTime(since);
    return time === undefined
      ? `--since must be a date or a time in UTC, not "${since}".`
      : { format, since: time };
  } catch (error) {
    return (error as Error).message;
  }
}

function readTime(text: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/.test(text)) return undefined;
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
}

function exportEntries(journal: Journal, { format, since }: Asked, { write }: CommandIo): void {
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

/** RFC 4180; what a spreadsheet would take for a formula is made text. */
function csvCell(value: string): string {
  const text = /^[=+\-@]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function explainTotals(journal: Journal, { explain }: CommandIo): void {
  const [totals, dropped] = [journal.totals(), journal.dropped()];
  for (const kind of Object.keys(totals) as (keyof JournalTotals)[]) {
    const { count, amount } = totals[kind];
    // Pending ones that are no longer among the entries are resolved, and not in the sum.
    const old =
      kind === 'pending' || dropped[kind].count === 0
        ? ''
        : `, ${dropped[kind].count} of them no longer in the journal`;
    explain(`${kind}: ${count}, ${formatUsd(BigInt(amount))} USD${old}`);
  }
}
