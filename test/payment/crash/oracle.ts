import { BASE_USDC } from '../../../src/payment/asset.ts';
import { readPayment, type StoredPayment } from '../../../src/payment/records/stored-payment.ts';
import { openBooks, type StoppedBooks } from '../../rig/stopped-books.ts';
import type { Purchase } from './crash-client.ts';

export interface Judgement {
  readonly faults: readonly string[];
  /** Payments that the dead server left half-way, by the state of their record. */
  readonly open: Readonly<Record<string, number>>;
  /** Payments from prepaid money. */
  readonly prepaid: number;
}

/**
 * Compares three books while the server is dead: what clients were answered, the server's journal, and the outside ledger.
 * `done`: the last start has finished what was half-way and every client has its answer. `givenUp`: jobs for which a credit was given.
 * `answersAfterNote`: an answer to a search, too, waits for the journal; otherwise its payment may still be half-way.
 */
export async function judge(
  dataFolder: string,
  transfers: ReadonlyMap<string, bigint>,
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
    const spends = new Map(
      books
        .rows<{ value: string }>('prepaid_spends')
        .map(({ key, value }) => [key.slice(key.lastIndexOf('/') + 1), BigInt(value.value)]),
    );
    const ledger = new Map([...transfers, ...spends]);
    const settled = new Map<string, bigint>();
    for (const { kind, nonce, amount } of books.ledger.entries(0)) {
      if (kind === 'presumed') faults.push(`${nonce} is only presumed to be settled`);
      if (kind !== 'settled' && kind !== 'prepaid') continue;
      if ((kind === 'prepaid') !== spends.has(nonce)) faults.push(`${nonce} is ${kind} in the journal`);
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
    const inAll = BigInt(totals.settled.amount) + BigInt(totals.prepaid.amount);
    if (inAll !== sum || totals.settled.count + totals.prepaid.count !== settled.size)
      faults.push(`the totals say ${JSON.stringify(totals)}, the entries ${settled.size} of ${sum}`);
    faults.push(...judgeBalances(books, spends, { transfers, purchases, done }));
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
    return { faults, open, prepaid: spends.size };
  } finally {
    await books.close();
  }
}

/** Checks that additions equal payments in, that spends equal charges, and that the rest is left. */
function* judgeBalances(
  books: StoppedBooks,
  spends: ReadonlyMap<string, bigint>,
  {
    transfers,
    purchases,
    done,
  }: {
    readonly transfers: ReadonlyMap<string, bigint>;
    readonly purchases: readonly Purchase[];
    readonly done: boolean;
  },
): Iterable<string> {
  const sum = (amounts: Iterable<bigint>) => [...amounts].reduce((all, amount) => all + amount, 0n);
  const balances = books.rows<{ left: string; added: string; spent: string }>('prepaid_balances');
  for (const { key, value } of balances)
    if (BigInt(value.left) !== BigInt(value.added) - BigInt(value.spent))
      yield `the balance of ${key}: ${JSON.stringify(value)}`;
  const [added, spent] = (['added', 'spent'] as const).map((name) =>
    sum(balances.map(({ value }) => BigInt(value[name]))),
  );
  if (spent !== sum(spends.values())) yield `balances have spent ${spent}, payments ${sum(spends.values())}`;
  const prepaid = purchases.filter(({ kind }) => kind === 'prepay');
  const paid = sum(prepaid.flatMap(({ nonces }) => nonces.map((nonce) => transfers.get(nonce) ?? 0n)));
  if (added! > paid || (done && added !== paid)) yield `${paid} was paid in advance, and ${added} is there`;
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
