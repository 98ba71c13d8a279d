import { UsageError } from '@farthing/cli/commands/command-set';
import { ASSETS, type Asset, assetOn, escrowOn } from '@farthing/payment/asset';
import type { Sighting } from '@farthing/payment/facilitator/chain-witness';
import { LOCAL_TRANSACTION_PREFIX } from '@farthing/payment/facilitator/local-facilitator';
import { readReceived } from '@farthing/payment/facilitator/received';
import { RpcNode } from '@farthing/payment/facilitator/rpc-node';
import { RpcWitness, readTransfers } from '@farthing/payment/facilitator/rpc-witness';
import type { Hex, Payment } from '@farthing/payment/payment';
import type { JournalEntry } from '@farthing/payment/records/journal';
import type { Address } from '@farthing/protocol/address';
import { formatUsd } from '@farthing/protocol/money';
import { type CommandIo, EXIT, settingsOf } from '../io.ts';
import type { LedgerSource } from '../running/ledger-stream.ts';
import type { Liabilities } from '../running/liabilities.ts';
import { proveRefund, type RefundChain } from '../running/refunds.ts';
import { sinceOf } from './ledger.ts';
import { lastStates, openLedger } from './ledger-source.ts';

/**
 * The chain's verdict on a row, or on a refund of prepaid money. `owed`: the money of a refused payment moved.
 * `refund_missing`: a recorded refund that the chain does not show.
 */
type Verdict =
  | 'proved'
  | 'prepaid'
  | 'returned'
  | 'voucher'
  | 'missing'
  | 'owed'
  | 'uncharged'
  | 'open'
  | 'refunded'
  | 'refund_missing'
  | 'refund_due'
  | 'play_money'
  | 'another_network';

/** Verdicts that an operator has to look into. */
const FAULTS: ReadonlySet<Verdict> = new Set(['missing', 'owed', 'refund_missing']);
/** A payment is in a block before it is in the ledger. */
const BOOKED_AFTER_MS_MAX = 600_000;
/** Rows that are checked at a time. */
const AT_ONCE = 8;

/**
 * Looks for each payment and each refund of the ledger on the chain, and for other transfers to the wallet: writes a line of JSON for each
 * that the chain shows otherwise, for each transfer that the ledger lacks, and for each debt: refunds that are due, and credits.
 * @returns 1 when a row differs from the chain
 */
export async function reconcileLedger(since: string | undefined, io: CommandIo): Promise<number> {
  const settings = settingsOf(io);
  if (settings.RPC_URL.length === 0)
    throw new UsageError('FARTHING_RPC_URL: name a node of the chain, which is asked.');
  const asset = assetOn(settings.NETWORK);
  const source = await openLedger(io);
  const nodes = settings.RPC_URL.map((url) => new RpcNode(url));
  const books = new Reconciliation({
    witness: new RpcWitness({ urls: settings.RPC_URL }),
    chain: { asset, nodes },
    isPlay: settings.FACILITATOR.length === 0,
    io,
  });
  try {
    const from = sinceOf(since);
    await books.readAll(source, from);
    const liabilities = await source.liabilities();
    await books.readRefunds(liabilities.refunds, from);
    const payTo = (settings.PAY_TO.toLowerCase() || books.payTo) as Hex | undefined;
    if (payTo !== undefined && books.firstTime !== undefined)
      await books.listStrangers(nodes[0]!, payTo, from || books.firstTime - BOOKED_AFTER_MS_MAX);
    books.explain();
    books.explainOwed(liabilities);
    const { voucher, claimed } = (await source.sums()).totals;
    const unclaimed = BigInt(voucher.amount) - BigInt(claimed.amount);
    if (voucher.count > 0) io.explain(`sold by vouchers and not claimed yet: ${formatUsd(unclaimed)} USD`);
  } finally {
    await source.close();
  }
  return books.faults === 0 ? EXIT.done : EXIT.failed;
}

class Reconciliation {
  /** The time of the ledger's last row. */
  payTo: string | undefined;
  /** Milliseconds since the epoch, of the oldest row that was on this chain. */
  firstTime: number | undefined;
  faults = 0;
  readonly #witness: RpcWitness;
  readonly #chain: RefundChain;
  readonly #asset: Asset;
  readonly #isPlay: boolean;
  readonly #io: CommandIo;
  readonly #sums = new Map<Verdict | 'stranger', { count: number; amount: bigint }>();
  /** Transactions and payers: one transaction may make several payments. */
  readonly #known = new Set<string>();

  /** Recorded refunds by transaction and payer: one transaction may pay several. */
  readonly #refunds = new Map<string, Refund[]>();

  /** `isPlay`: what is prepaid is play money. */
  constructor(deps: {
    readonly witness: RpcWitness;
    readonly chain: RefundChain;
    readonly isPlay: boolean;
    readonly io: CommandIo;
  }) {
    this.#witness = deps.witness;
    this.#chain = deps.chain;
    this.#asset = deps.chain.asset;
    this.#isPlay = deps.isPlay;
    this.#io = deps.io;
  }

  async readAll(source: LedgerSource, since: number): Promise<void> {
    let batch: JournalEntry[] = [];
    for await (const entry of lastStates(source, since)) {
      batch.push(entry);
      if (batch.length < AT_ONCE) continue;
      await Promise.all(batch.map((each) => this.#judge(each)));
      batch = [];
    }
    await Promise.all(batch.map((each) => this.#judge(each)));
  }

  /** Holds what was sent back against the chain, and lists what is due. @param since milliseconds: of refunds that were made before */
  async readRefunds(refunds: Liabilities['refunds'], since: number): Promise<void> {
    for (const { id, payer, amount, time, transaction } of refunds) {
      const refund = { refund: id, payer, amount: BigInt(amount), time };
      if (this.#isPlay) this.#add('play_money', refund.amount);
      else if (transaction === undefined) {
        this.#add('refund_due', refund.amount);
        this.#write('refund_due', refund);
      } else if (time >= since) this.#noteRefund(transaction, refund);
    }
    for (const [key, paid] of this.#refunds) {
      const [transaction, payer] = key.split('/') as [string, Address];
      const amount = paid.reduce((sum, refund) => sum + refund.amount, 0n);
      const shown = await proveRefund(this.#chain, transaction, payer, amount);
      const detail = 'fault' in shown ? shown.fault : undefined;
      for (const refund of paid) {
        this.#add(detail === undefined ? 'refunded' : 'refund_missing', refund.amount);
        if (detail === undefined) continue;
        this.faults += 1;
        this.#write('refund_missing', refund, { transaction, detail });
      }
    }
  }

  #noteRefund(transaction: string, refund: Refund): void {
    const key = `${transaction}/${refund.payer}`;
    this.#refunds.set(key, [...(this.#refunds.get(key) ?? []), refund]);
  }

  /** @param facts further fields of the line */
  #write(found: Verdict, { amount, time, ...refund }: Refund, facts: object = {}): void {
    const [at, amount_usd] = [new Date(time).toISOString(), formatUsd(amount)];
    this.#io.write(`${JSON.stringify({ found, ...refund, ...facts, time: at, amount_usd })}\n`);
  }

  /** Transfers to the wallet that no payment of the ledger made. */
  async listStrangers(node: RpcNode, payTo: Hex, sinceMs: number): Promise<void> {
    const progress = (done: number) =>
      this.#io.progress?.(`transfers to ${payTo}: ${Math.round(100 * done)} %`);
    for await (const transfer of readReceived(node, this.#asset, { payTo, sinceMs, progress })) {
      if (this.#known.has(`${transfer.transaction}/${transfer.from}`)) continue;
      this.#add('stranger', transfer.value);
      const { from, transaction, block } = transfer;
      const amount_usd = formatUsd(transfer.value);
      this.#io.write(`${JSON.stringify({ found: 'stranger', from, amount_usd, transaction, block })}\n`);
    }
  }

  explain(): void {
    for (const [verdict, { count, amount }] of this.#sums)
      this.#io.explain(`${verdict}: ${count}, ${formatUsd(amount)} USD`);
    if (this.#sums.size === 0) this.#io.explain('The ledger is empty.');
  }

  /** The sum that the operator owes. */
  explainOwed({ prepaid, credits }: Liabilities): void {
    const money = this.#isPlay ? ' of play money' : '';
    const left = formatUsd(BigInt(prepaid.left));
    this.#io.explain(`prepaid and not spent: ${left} USD${money} of ${prepaid.wallets} wallets`);
    for (const { payer, uploads } of credits)
      this.#io.write(`${JSON.stringify({ found: 'credit', payer, uploads })}\n`);
    const uploads = credits.reduce((sum, credit) => sum + credit.uploads, 0);
    this.#io.explain(`credits: ${uploads} uploads of ${credits.length} wallets`);
    const due = (['owed', 'refund_due'] as const).map((verdict) => this.#sums.get(verdict)?.amount ?? 0n);
    const [refused, refunds] = due as [bigint, bigint];
    this.#io.explain(
      `to be sent back: ${formatUsd(refused + refunds)} USD: ${formatUsd(refused)} of refused payments, ${formatUsd(refunds)} of refunds that are due`,
    );
  }

  async #judge(entry: JournalEntry): Promise<void> {
    const look = entry.kind === 'claimed' ? this.#seeClaim : this.#seePayment;
    const seen = this.#isHere(entry) ? await look.call(this, entry) : undefined;
    const verdict = this.#verdictOn(entry, seen);
    this.#add(verdict, BigInt(entry.amount));
    if (seen) {
      this.payTo = entry.payTo;
      this.firstTime = Math.min(this.firstTime ?? entry.time, entry.time);
      if (seen.kind === 'settled') this.#known.add(`${seen.transaction}/${entry.payer}`);
    }
    if (entry.kind === 'refunded' && seen) this.#noteRefund(entry.refund!, refundOf(entry));
    if (!FAULTS.has(verdict)) return;
    this.faults += 1;
    const { kind, payer, nonce, route, transaction = '' } = entry;
    const row = { found: verdict, chain: seen?.kind, kind, payer, nonce, route, transaction };
    const time = new Date(entry.time).toISOString();
    this.#io.write(`${JSON.stringify({ ...row, time, amount_usd: formatUsd(BigInt(entry.amount)) })}\n`);
  }

  #seePayment(entry: JournalEntry): Promise<Sighting> {
    return this.#witness.look(paymentOf(entry), entry.transaction);
  }

  /** Whether the transaction of claims brought their money. One that claimed nothing paid a channel's rest back. */
  async #seeClaim({ transaction = '', payer, payTo, amount }: JournalEntry): Promise<Sighting> {
    const { asset, nodes } = this.#chain;
    if (amount === '0') return { kind: 'settled', transaction };
    const troubles: string[] = [];
    for (const node of nodes) {
      try {
        const transfers = (await readTransfers(node, asset, transaction)) ?? [];
        const isPaid = transfers.some(
          ({ from, to, value }) => from === payer && to === payTo && value >= BigInt(amount),
        );
        return isPaid ? { kind: 'settled', transaction } : { kind: 'used_otherwise' };
      } catch (error) {
        troubles.push((error as Error).message);
      }
    }
    throw new Error(troubles.join('; '));
  }

  #isHere({ network, asset, transaction }: JournalEntry): boolean {
    const isPlay = transaction?.startsWith(LOCAL_TRANSACTION_PREFIX) === true;
    return !isPlay && network === this.#asset.network && asset === this.#asset.address;
  }

  #verdictOn({ kind, network, asset, transaction }: JournalEntry, seen: Sighting | undefined): Verdict {
    if (transaction?.startsWith(LOCAL_TRANSACTION_PREFIX)) return 'play_money';
    if (kind === 'prepaid' || kind === 'returned' || kind === 'voucher') return kind;
    if (asset === escrowOn(this.#asset.network).address) return kind === 'pending' ? 'open' : 'uncharged';
    if (!seen) return network === this.#asset.network ? 'play_money' : 'another_network';
    const isPaid = seen.kind === 'settled' || (seen.kind === 'unexplained' && !seen.isComplete);
    switch (kind) {
      case 'settled':
      case 'claimed':
        return isPaid ? 'proved' : 'missing';
      // The refund itself is looked for later.
      case 'refunded':
        return isPaid ? 'proved' : 'uncharged';
      case 'presumed':
        return isPaid ? 'proved' : 'uncharged';
      case 'refused':
        return isPaid ? 'owed' : 'uncharged';
      case 'pending':
        return 'open';
      default:
        return kind satisfies never;
    }
  }

  #add(verdict: Verdict | 'stranger', amount: bigint): void {
    const sum = this.#sums.get(verdict) ?? { count: 0, amount: 0n };
    this.#sums.set(verdict, { count: sum.count + 1, amount: sum.amount + amount });
  }
}

/** Money that was sent back, or has to be. */
interface Refund {
  readonly refund: string;
  readonly payer: Address;
  readonly amount: bigint;
  /** Milliseconds since the epoch. */
  readonly time: number;
}

function refundOf({ nonce, payer, amount, time }: JournalEntry): Refund {
  return { refund: nonce, payer, amount: BigInt(amount), time };
}

/** The part of a payment that the chain is queried by. */
function paymentOf({ network, asset, payer, payTo, nonce, amount }: JournalEntry): Payment {
  return {
    version: 2,
    scheme: 'exact',
    networkName: network,
    asset: ASSETS.find((each) => each.network === network && each.address === asset)!,
    payer,
    payTo,
    value: BigInt(amount),
    validAfter: 0n,
    validBefore: 0n,
    nonce: nonce as Hex,
    signature: '0x',
  };
}
