import { BASE_USDC } from '../../../src/payment/asset.ts';
import { readPayment, type StoredPayment } from '../../../src/payment/records/stored-payment.ts';
import { openBooks } from '../../rig/stopped-books.ts';
import type { Purchase } from './crash-client.ts';

export interface Judgement {
  readonly faults: readonly string[];
  /** Payments that the dead server left half-way, by the state of their record. */
  readonly open: Readonly<Record<string, number>>;
}

/**
 * Compares three books while the server is dead: what clients were answered, the server's journal, and the outside ledger.
 * `done`: the last start has finished what was half-way and every client has its answer. `givenUp`: jobs for which a credit was given.
 * `answersAfterNote`: an answer to a search, too, waits for the journal; otherwise its payment may still be half-way.
 */
export async function judge(
  dataFolder: string,
  ledger: ReadonlyMap<string, bigint>,
  purchases: readonly Purchase[],
  {
    done,
    givenUp = [],
    answersAfterNote,
  }: { done: boolean; givenUp?: readonly string[]; answersAfterNote: boolean },
): Promise<Judgement> {
  const books = await openBooks(dataFolder);
  try {
    const faults: string[] = [];
    const settled = new Map<string, bigint>();
    for (const { kind, nonce, amount } of books.ledger.entries(0)) {
      if (kind === 'presumed') faults.push(`${nonce} is only presumed to be settled`);
      if (kind !== 'settled') continue;
      if (settled.has(nonce)) faults.push(`${nonce} stands twice in the journal`);
      settled.set(nonce, BigInt(amount));
      if (ledger.get(nonce) !== BigInt(amount))
        faults.push(`${nonce}: the journal has ${amount}, the ledger ${ledger.get(nonce)}`);
    }
    const payments = new Map(books.rows<StoredPayment>('payments').map(({ key, value }) => [key, value]));
    const openNonces = new Set<string>();
    const open: Record<string, number> = {};
    for (const { key } of books.rows<1>('payments_open')) {
      const stored = payments.get(key);
      if (!stored) continue;
      const { payment, state } = readPayment(stored, BASE_USDC);
      openNonces.add(payment.nonce);
      open[state] = (open[state] ?? 0) + 1;
    }
    for (const nonce of ledger.keys()) {
      if (!settled.has(nonce) && !openNonces.has(nonce)) faults.push(`${nonce} was charged and is forgotten`);
    }
    const totals = books.ledger.totals();
    const sum = [...settled.values()].reduce((all, amount) => all + amount, 0n);
    if (totals.settled.amount !== sum.toString() || totals.settled.count !== settled.size)
      faults.push(`the totals say ${JSON.stringify(totals.settled)}, the entries ${settled.size} of ${sum}`);
    const jobs = new Map(books.rows<{ creditTo?: string }>('jobs').map(({ key, value }) => [key, value]));
    // The row owes the credit until it is given.
    for (const job of givenUp)
      if (!jobs.has(job) || jobs.get(job)?.creditTo !== undefined) faults.push(`${job} gave no credit`);
    for (const purchase of purchases) {
      const mayFollow = purchase.kind === 'search' && !answersAfterNote;
      const isNoted = (nonce: string) => settled.has(nonce) || (mayFollow && openNonces.has(nonce));
      faults.push(...judgePurchase(purchase, ledger, isNoted, done));
    }
    if (done) {
      if (openNonces.size > 0) faults.push(`half-way at the end: ${JSON.stringify(open)}`);
      if (totals.pending.count !== 0) faults.push(`pending for ever: ${JSON.stringify(totals.pending)}`);
      const moved = [...ledger.values()].reduce((all, amount) => all + amount, 0n);
      if (moved !== sum) faults.push(`the ledger moved ${moved}, the journal has ${sum}`);
    }
    return { faults, open };
  } finally {
    await books.close();
  }
}

function* judgePurchase(
  { kind, keyed, nonces, expired, answer }: Purchase,
  ledger: ReadonlyMap<string, bigint>,
  isNoted: (nonce: string) => boolean,
  done: boolean,
): Iterable<string> {
  const what = `${keyed ? 'keyed' : 'keyless'} ${kind} ${nonces.slice(0, 3).join(', ')}, ${nonces.length} payments`;
  const charges = nonces.filter((nonce) => ledger.has(nonce));
  if (expired.some((nonce) => ledger.has(nonce))) yield `called expired, and charged: ${what}`;
  if (charges.length > 1) yield `charged ${charges.length} times: ${what}`;
  if (answer?.charged && charges.length === 0) yield `answered without a charge: ${what}`;
  if (answer?.charged && !charges.some(isNoted)) yield `answered before the books had it: ${what}`;
  if (answer && !answer.charged && charges.length > 0) yield `charged for an uncharged answer: ${what}`;
  if (done && !answer) yield `never answered: ${what}`;
}
