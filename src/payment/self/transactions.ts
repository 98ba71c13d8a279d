import type { Address } from '@farthing/protocol/address';
import type { PrivateKeyAccount } from 'viem/accounts';
import type { Asset } from '../asset.ts';
import { CHAIN_LAG_S, type ChainWitness, provenBy } from '../facilitator/chain-witness.ts';
import type { SettledBy } from '../facilitator/facilitator.ts';
import { type Hex, type Payment, paymentKey } from '../payment.ts';
import { type Fees, replacementFees } from './fees.ts';
import type { GasState, Head } from './gas-state.ts';
import type { Nodes } from './nodes.ts';
import { bySelf, type Outcome, REVERTED, refused, reportAnother } from './outcome.ts';
import { gasWeiOf, type Receipt } from './receipt.ts';
import type { Attempt, SignedTransfer, SignedTransfers } from './signed-transfers.ts';
import type { Call } from './transfer-call.ts';

export interface TransactionsDeps {
  readonly rows: SignedTransfers;
  /** Pays the gas; no other server uses it. */
  readonly wallet: PrivateKeyAccount;
  readonly asset: Asset;
  readonly nodes: Nodes;
  readonly gas: GasState;
  readonly witness: ChainWitness;
  /** Wei for a unit of gas. */
  readonly feeMax: bigint;
  /** Blocks after which an outcome counts: 1 is the block that holds it. */
  readonly blocks: number;
  readonly paces?: Partial<Paces>;
  readonly log: (event: Readonly<Record<string, unknown>>) => void;
}

/** Milliseconds. */
export interface Paces {
  /** Milliseconds between two looks at the chain while a transaction waits. */
  readonly lookMs: number;
  /** The same while all are mined and may only be reorganised away. */
  readonly minedMs: number;
  /** A transaction that waits is sent again. */
  readonly resendMs: number;
  /** After this long, the first in the queue is replaced by one with higher fees. */
  readonly stuckMs: number;
}

/** A block of Base comes every two seconds. */
const PACES: Paces = { lookMs: 400, minedMs: 4000, resendMs: 4000, stuckMs: 12_000 };
/** Blocks on top after which nothing is reorganised any more: a minute of Base. Until then a transaction that vanishes is sent again. */
const FINAL_BLOCKS = 32n;
/** Looks at a used account nonce without a receipt before another transaction counts as its user: nodes behind one address differ. */
const UNSEEN_LOOKS_MAX = 12;

interface Mined {
  readonly hash: Hex;
  readonly block: bigint;
  readonly isDone: boolean;
  /** Wei; undefined where the node does not say. */
  readonly gasWei: string | undefined;
}

/** A signed transfer on its way. */
interface Live {
  signed: SignedTransfer;
  readonly outcome: PromiseWithResolvers<Outcome>;
  /** The reported outcome; undefined until then. */
  told?: Outcome;
  /** A block holds it, for all that is known. */
  isMined: boolean;
  readonly begunAt: number;
  sentAt: number;
  signedAt: number;
  /** Looks at which its nonce was used and no receipt was there. */
  unseen: number;
  /** A node wants higher fees for it. */
  isUnderpriced: boolean;
}

/**
 * The transactions of the wallet that pays the gas. Each is signed, written down, and only then sent; it is sent again, and replaced by one
 * with higher fees, until its account nonce is used. A start takes up what the last one wrote down. Account nonces have no gaps: the next
 * is the lowest that neither the chain nor a row has.
 */
export class Transactions {
  readonly #deps: TransactionsDeps;
  readonly #paces: Paces;
  readonly #from: Address;
  readonly #live = new Map<string, Live>();
  /** Account nonces of transactions that are being signed. */
  readonly #signing = new Set<number>();
  /** Every account nonce below is used, for good or until a reorganisation. */
  #floor = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Time of the next look, by `performance.now()`. */
  #dueAt = Number.POSITIVE_INFINITY;
  #looking: Promise<void> | undefined;
  #isClosed = false;

  constructor(deps: TransactionsDeps) {
    this.#deps = deps;
    this.#paces = { ...PACES, ...deps.paces };
    this.#from = deps.wallet.address.toLowerCase() as Address;
    for (const signed of deps.rows.all()) this.#add(signed);
    if (this.#live.size > 0) {
      deps.log({ level: 'warn', event: 'transactions_recovered', count: this.#live.size });
      this.#lookIn(0);
    }
  }

  /** Transactions that are not mined yet, for all that is known. */
  get waiting(): number {
    return [...this.#live.values()].filter(({ told }) => !told).length;
  }

  /** Milliseconds that the oldest of these has waited; 0 without any. */
  get oldestWaitMs(): number {
    const now = performance.now();
    const waits = [...this.#live.values()].filter(({ told }) => !told).map(({ begunAt }) => now - begunAt);
    return Math.max(0, ...waits);
  }

  /** Outcome of a payment for which a transaction was signed; undefined for any other. */
  outcomeOf(payment: Payment): Promise<Outcome> | undefined {
    return this.#live.get(paymentKey(payment))?.outcome.promise;
  }

  /** Units of the coin that this payer's waiting transactions will move. */
  committed({ payer }: Payment): bigint {
    return [...this.#live.values()]
      .filter(({ signed, isMined }) => !isMined && signed.payment.payer === payer)
      .reduce((sum, { signed }) => sum + signed.payment.value, 0n);
  }

  /** Cost of a transaction; undefined for one of another wallet. @throws when no node answers */
  async sent(transaction: string): Promise<SettledBy | undefined> {
    const receipt = await this.#read(transaction);
    const isOurs = receipt?.from.toLowerCase() === this.#from;
    return receipt && isOurs ? bySelf({ gasWei: gasWeiOf(receipt) }) : undefined;
  }

  /**
   * Signs the transaction of a payment, writes it down and sends it. `call` makes the payment; `gas`: most that it may take.
   * @returns what becomes of it, once it is written down. @throws why it could not be: nothing was sent then
   */
  async send(
    payment: Payment,
    { call, gas, fees, head: { count } }: { call: Call; gas: bigint; fees: Fees; head: Head },
  ): Promise<{ readonly outcome: Promise<Outcome> }> {
    this.#floor = Math.max(this.#floor, count);
    const accountNonce = this.#nextNonce();
    this.#signing.add(accountNonce);
    try {
      const former = { payment, from: this.#from, call, accountNonce, gas, attempts: [] };
      const signed = { ...former, attempts: [await this.#sign(former, fees)] };
      await this.#deps.rows.write(signed);
      const live = this.#add(signed);
      void this.#broadcast(live).then(() => this.#lookIn(this.#paces.lookMs / 4));
      return { outcome: live.outcome.promise };
    } finally {
      this.#signing.delete(accountNonce);
    }
  }

  /** Nothing is sent or looked for any more. The next start resumes waiting transactions. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#looking;
  }

  #add(signed: SignedTransfer): Live {
    const outcome = Promise.withResolvers<Outcome>();
    const now = performance.now();
    const live: Live = {
      signed,
      outcome,
      isMined: false,
      begunAt: now,
      sentAt: Number.NEGATIVE_INFINITY,
      signedAt: now,
      unseen: 0,
      isUnderpriced: false,
    };
    this.#live.set(paymentKey(signed.payment), live);
    return live;
  }

  #nextNonce(): number {
    const used = new Set(this.#signing);
    for (const { signed } of this.#live.values())
      if (signed.from === this.#from) used.add(signed.accountNonce);
    let next = this.#floor;
    while (used.has(next)) next++;
    return next;
  }

  async #sign({ payment, call, accountNonce, gas }: SignedTransfer, fees: Fees): Promise<Attempt> {
    const { keccak256 } = await import('viem');
    const raw = await this.#deps.wallet.signTransaction({
      type: 'eip1559',
      chainId: payment.asset.chainId,
      nonce: accountNonce,
      value: 0n,
      ...call,
      gas,
      ...fees,
    });
    return { ...fees, raw, hash: keccak256(raw) };
  }

  async #broadcast(live: Live): Promise<void> {
    live.sentAt = performance.now();
    const { raw, hash } = live.signed.attempts.at(-1)!;
    const refusal = await this.#deps.nodes.broadcast(raw);
    if (refusal === undefined || /nonce too low/i.test(refusal)) return;
    live.isUnderpriced ||= /underpriced|fee too low|less than block base fee|max fee/i.test(refusal);
    this.#deps.log({ level: 'warn', event: 'transaction_not_taken', transaction: hash, detail: refusal });
  }

  /** Schedules the next look within this time. */
  #lookIn(milliseconds: number): void {
    const dueAt = performance.now() + milliseconds;
    if (this.#isClosed || this.#looking || dueAt >= this.#dueAt) return;
    clearTimeout(this.#timer);
    this.#dueAt = dueAt;
    this.#timer = setTimeout(() => {
      this.#dueAt = Number.POSITIVE_INFINITY;
      this.#looking = this.#look()
        .then(
          () => (this.waiting > 0 ? this.#paces.lookMs : this.#paces.minedMs),
          (error) => {
            this.#deps.log({ level: 'warn', event: 'chain_unreachable', error: String(error) });
            return this.#paces.resendMs;
          },
        )
        .then((milliseconds) => {
          this.#looking = undefined;
          if (this.#live.size > 0) this.#lookIn(milliseconds);
        });
    }, milliseconds);
    this.#timer.unref();
  }

  /** One look at the chain, and what follows from it for each transaction, by account nonces. */
  async #look(): Promise<void> {
    const head = await this.#deps.gas.read();
    const counts = new Map<Address, number>([[this.#from, head.count]]);
    const inOrder = [...this.#live.values()].sort((a, b) => a.signed.accountNonce - b.signed.accountNonce);
    for (const live of inOrder) {
      if (this.#isClosed) return;
      const { from, accountNonce } = live.signed;
      if (!counts.has(from)) counts.set(from, await this.#countOf(from));
      const count = counts.get(from)!;
      if (accountNonce < count) await this.#used(live, head);
      else await this.#unused(live, head, accountNonce === count);
    }
    this.#floor = Math.max(this.#floor, head.count);
  }

  /** Count of a former wallet's transactions, which can be sent again, but not be replaced. */
  async #countOf(address: Address): Promise<number> {
    const count = await this.#deps.nodes.first((node) =>
      node.call<Hex>('eth_getTransactionCount', [address, 'latest']),
    );
    return Number(count);
  }

  /** Its account nonce is used. */
  async #used(live: Live, head: Head): Promise<void> {
    const mined = await this.#receiptOf(live);
    if (!mined) {
      live.unseen += 1;
      if (live.unseen >= UNSEEN_LOOKS_MAX) await this.#usedByAnother(live, head);
      return;
    }
    Object.assign(live, { unseen: 0, isMined: true });
    const blocks = head.number - mined.block + 1n;
    if (blocks < this.#deps.blocks) return;
    if (!live.told) {
      const outcome = mined.isDone
        ? { kind: 'settled' as const, transaction: mined.hash, by: bySelf(mined) }
        : await this.#afterRevert(live.signed.payment, mined);
      if (outcome?.kind === 'refused') return await this.#end(live, outcome);
      if (outcome) this.#tell(live, outcome);
      return;
    }
    if (blocks < FINAL_BLOCKS) return;
    if (!mined.isDone) await this.#reportReorganised(live, mined.hash);
    await this.#end(live);
  }

  /** Outcome of the payment whose transaction was reverted: another sender may have settled the same authorization before. */
  async #afterRevert(payment: Payment, mined: Mined): Promise<Outcome | undefined> {
    const seen = await this.#deps.witness.look(payment);
    if (seen.kind === 'unused') {
      const isPoor = seen.balance < payment.value;
      return { ...refused(isPoor ? 'insufficient_funds' : REVERTED), by: bySelf(mined) };
    }
    const proven = provenBy(seen, payment);
    if (proven?.kind === 'settled') reportAnother(this.#deps.log, payment, proven);
    const { gasWei } = mined;
    if (proven?.kind === 'settled') return { ...proven, by: { gasWei } };
    return proven?.kind === 'refused' ? { ...proven, by: bySelf(mined) } : undefined;
  }

  /** The account nonce went to a transaction that is not here: lost with a disk, or of another server with this key. */
  async #usedByAnother(live: Live, head: Head): Promise<void> {
    const { payment, accountNonce } = live.signed;
    this.#deps.log({ level: 'error', event: 'gas_key_used_elsewhere', account_nonce: accountNonce });
    const seen = await this.#deps.witness.look(payment);
    if (seen.kind !== 'unused') {
      const proven = provenBy(seen, payment);
      return await this.#end(
        live,
        proven?.kind === 'settled' ? proven : refused('authorization_already_used'),
      );
    }
    if (head.timestamp >= payment.validBefore || live.signed.from !== this.#from)
      return await this.#end(live, refused('authorization_expired'));
    this.#floor = Math.max(this.#floor, head.count);
    const fees = this.#deps.gas.fees(head);
    if (fees)
      await this.#replace(live, { ...live.signed, accountNonce: this.#nextNonce(), attempts: [] }, fees);
  }

  /** Its account nonce is free: it waits, or was reorganised away. */
  async #unused(live: Live, head: Head, isFirst: boolean): Promise<void> {
    live.isMined = false;
    const { from, payment } = live.signed;
    // Without the former key it cannot be replaced, and it can pay nothing more.
    if (from !== this.#from && !live.told && head.timestamp > payment.validBefore + CHAIN_LAG_S)
      return await this.#end(live, refused('authorization_expired'));
    const now = performance.now();
    const isStuck = live.isUnderpriced || (isFirst && now - live.signedAt > this.#paces.stuckMs);
    if (isStuck && from === this.#from) {
      const { signed } = live;
      const wanted = this.#deps.gas.fees(head);
      const fees = wanted && replacementFees(signed.attempts.at(-1)!, wanted, this.#deps.feeMax);
      if (fees) return await this.#replace(live, signed, fees);
    }
    if (now - live.sentAt >= this.#paces.resendMs) await this.#broadcast(live);
  }

  async #replace(live: Live, former: SignedTransfer, fees: Fees): Promise<void> {
    const attempt = await this.#sign(former, fees);
    const signed = { ...former, attempts: [...former.attempts, attempt] };
    await this.#deps.rows.write(signed);
    Object.assign(live, { signed, signedAt: performance.now(), isUnderpriced: false, unseen: 0 });
    const { hash } = attempt;
    this.#deps.log({ event: 'transaction_replaced', transaction: hash, attempts: signed.attempts.length });
    await this.#broadcast(live);
  }

  /** The block that holds one of its transactions, as a node has it. */
  async #receiptOf({ signed }: Live): Promise<Mined | undefined> {
    for (const { hash } of signed.attempts.toReversed()) {
      const receipt = await this.#read(hash);
      if (receipt)
        return {
          hash,
          block: BigInt(receipt.blockNumber),
          isDone: BigInt(receipt.status) === 1n,
          gasWei: gasWeiOf(receipt),
        };
    }
    return undefined;
  }

  #read(hash: string): Promise<Receipt | undefined> {
    return this.#deps.nodes.first((node) => node.find<Receipt>('eth_getTransactionReceipt', [hash]));
  }

  #tell(live: Live, outcome: Outcome): void {
    live.told = outcome;
    live.outcome.resolve(outcome);
  }

  /** Reports a settlement that a reorganisation deeper than `blocks` took back, unless another sender made it. */
  async #reportReorganised({ signed: { payment } }: Live, transaction: Hex): Promise<void> {
    const seen = await this.#deps.witness.look(payment);
    if (seen.kind === 'settled') return;
    const { payer, nonce } = payment;
    this.#deps.log({ level: 'error', event: 'settlement_reorganised', payer, nonce, transaction });
  }

  /** Its row is removed before the outcome is reported: a payment that was refused may be settled once more. */
  async #end(live: Live, outcome?: Outcome): Promise<void> {
    const { payment } = live.signed;
    await this.#deps.rows.remove(payment);
    this.#live.delete(paymentKey(payment));
    if (outcome && !live.told) this.#tell(live, outcome);
  }
}
