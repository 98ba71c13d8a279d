import { UsageError } from '@farthing/cli/commands/command-set';
import { SELF } from '@farthing/payment/facilitator/facilitators';
import { LOCAL } from '@farthing/payment/facilitator/local-facilitator';
import type { JournalEntry, JournalTotals } from '@farthing/payment/records/journal';
import { formatEth } from '@farthing/payment/self/receipt';
import { formatUsd } from '@farthing/protocol/money';
import { type CommandIo, EXIT } from '../io.ts';
import type { LedgerSource, LedgerSums } from '../running/ledger-stream.ts';
import { lastStates, openLedger } from './ledger-source.ts';

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
  'facilitator',
  'gas_eth',
  'fee_usd',
  'refund_transaction',
  'gas_usd',
  'margin_usd',
] as const;
type Row = Readonly<Record<(typeof COLUMNS)[number], string>>;

export interface LedgerOptions {
  /** `csv` or `jsonl`. */
  readonly format: string;
  /** A date, or a time with its zone (ISO 8601). */
  readonly since: string | undefined;
}

/** Writes the ledger, one row a payment with its last state, and explains its totals. @throws UsageError, Error with what to do */
export async function exportLedger(options: LedgerOptions, io: CommandIo): Promise<number> {
  const selection = selectionOf(options);
  const source = await openLedger(io);
  try {
    await exportEntries(source, selection, io);
    explainTotals(await source.sums(), io);
    return EXIT.done;
  } finally {
    await source.close();
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
  return { format, since: sinceOf(since) };
}

/** @throws UsageError */
export function sinceOf(since: string | undefined): number {
  const time = since === undefined ? 0 : readTime(since);
  if (time === undefined)
    throw new UsageError(`--since must be a date or a time with its zone, not "${since}".`);
  return time;
}

/** Milliseconds since the epoch of a date, or of a time with its zone (ISO 8601); undefined for anything else. */
export function readTime(text: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/.test(text)) return undefined;
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
}

async function exportEntries(
  source: LedgerSource,
  { format, since }: Selection,
  { write }: CommandIo,
): Promise<void> {
  if (format === 'csv') write(`${COLUMNS.join(',')}\r\n`);
  for await (const entry of lastStates(source, since)) {
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
    ...settlementOf(entry),
    refund_transaction: entry.refund ?? '',
    ...marginOf(entry),
  };
}

/** Facts that the server cannot know, such as a facilitator's fee. */
const UNKNOWN = 'unknown';
const NO_SETTLEMENT = { facilitator: '', gas_eth: '', fee_usd: '' };

/** Cells for who settled it, the gas that this server paid, and the facilitator's fee: those over HTTP bill by the month, and name no fee. */
function settlementOf(entry: JournalEntry): Pick<Row, keyof typeof NO_SETTLEMENT> {
  const { kind, facilitator, gasWei } = entry;
  const isSettled = kind === 'settled' || kind === 'presumed' || kind === 'refunded';
  const isFromPurse = kind === 'prepaid' || (kind === 'voucher' && gasWei === undefined);
  if (isFromPurse || facilitator === LOCAL)
    return { facilitator: facilitator ?? '', gas_eth: '0', fee_usd: '0' };
  if (!isSettled && facilitator === undefined && gasWei === undefined) return NO_SETTLEMENT;
  const gas = gasWei === undefined ? UNKNOWN : formatEth(gasWei);
  if (facilitator === undefined) return { facilitator: UNKNOWN, gas_eth: gas, fee_usd: UNKNOWN };
  return facilitator === SELF
    ? { facilitator, gas_eth: gas, fee_usd: '0' }
    : { facilitator, gas_eth: '0', fee_usd: UNKNOWN };
}

/** Dollars of the gas at the time of the sale, and what is left of the price; what a facilitator over HTTP bills is not known. */
function marginOf(entry: JournalEntry): Pick<Row, 'gas_usd' | 'margin_usd'> {
  const { gas_eth, fee_usd } = settlementOf(entry);
  const gas = entry.gasUnits ?? (gas_eth === '0' ? '0' : undefined);
  const none = gas_eth === '' ? '' : UNKNOWN;
  if (gas === undefined) return { gas_usd: none, margin_usd: none };
  const isPaid = ['settled', 'prepaid', 'voucher'].includes(entry.kind);
  const margin = (isPaid ? BigInt(entry.amount) : 0n) - BigInt(gas);
  return {
    gas_usd: formatUsd(BigInt(gas)),
    margin_usd: fee_usd === '0' ? formatUsd(margin) : UNKNOWN,
  };
}

/** A cell by RFC 4180. Text that a spreadsheet would run as a formula gets a leading quote. */
function csvCell(value: string): string {
  const text = /^[=+\-@](?![\d.]+$)/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function explainTotals({ totals, dropped }: LedgerSums, { explain }: CommandIo): void {
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
