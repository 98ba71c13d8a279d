import type { Address } from '@farthing/protocol/address';
import type { PrivateKeyAccount } from 'viem/accounts';
import type { Asset } from '../asset.ts';
import { CHAIN_LAG_S, type ChainWitness, provenBy, type Sighting } from '../facilitator/chain-witness.ts';
import type { SettledBy } from '../facilitator/facilitator.ts';
import { type Hex, type Payment, paymentKey } from '../payment.ts';
import { type Fees, replacementFees } from './fees.ts';
import type { GasState, Head } from './gas-state.ts';
import type { Nodes } from './nodes.ts';
import { bySelf, type Cost, type Outcome, REVERTED, refused, reportAnother } from './outcome.ts';
import { gasWeiOf, isMadeIn, type Receipt } from './receipt.ts';
import {
  type Attempt,
  type Part,
  rowId,
  type SignedTransfer,
  type SignedTransfers,
} from './signed-transfers.ts';
import { type Call, togetherCall, transferCall } from './transfer-call.ts';

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
  /** How long a payment waits for others while a transaction is on its way. */
  readonly gatherMs: number;
}

/** A block of Base comes every two seconds. */
export const PACES: Paces = { lookMs: 400, minedMs: 4000, resendMs: 4000, stuckMs: 12_000, gatherMs: 1000 };
/** Blocks on top after which nothing is reorganised any more: a minute of Base. Until then a transaction that vanishes is sent again. */
const FINAL_BLOCKS = 32n;
/** Looks at a used account nonce without a receipt before another transaction counts as its user: nodes behind one address differ. */
const UNSEEN_LOOKS_MAX = 12;
/** How long each payment is settled for itself after one failed among others. */
const DISTURBED_MS = 3_600_000;

/** A payment that can be signed for. */
export interface Ready extends Part {
  readonly call: Call;
}

interface Mined {
  readonly hash: Hex;
  readonly block: bigint;
  readonly isDone: boolean;
  /** Of each payment that it made. */
  readonly cost: Cost;
  readonly receipt: Receipt;
}

/** A payment on its way. */
interface Underway extends Part {
  readonly outcome: PromiseWithResolvers<Outcome>;
  /** The reported outcome; undefined until then. */
  told?: Outcome;
}

/** A signed transaction on its way. */
interface Live {
  signed: SignedTransfer;
  /** Those of `signed`. */
  parts: readonly Underway[];
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
  readonly #live = new Set<Live>();
  readonly #underway = new Map<string, Underway>();
  /** Account nonces of transactions that are being signed. */
  readonly #signing = new Set<number>();
  /** Every account nonce below is used, for good or until a reorganisation. */
  #floor = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Time of the next look, by `performance.now()`. */
  #dueAt = Number.POSITIVE_INFINITY;
  #looking: Promise<void> | undefined;
  #isClosed = false;
  /** When a payment failed among others last, by `performance.now()`. */
  #failedAt = Number.NEGATIVE_INFINITY;

  constructor(deps: TransactionsDeps) {
    this.#deps = deps;
    this.#paces = { ...PACES, ...deps.paces };
    this.#from = deps.wallet.address.toLowerCase() as Address;
    for (const signed of deps.rows.all()) {
      // One that was signed anew for itself is that row's.
      const parts = signed.parts.filter(({ payment }) => !this.#underway.has(paymentKey(payment)));
      this.#add({ ...signed, parts });
    }
    if (this.#live.size > 0) {
      deps.log({ level: 'warn', event: 'transactions_recovered', count: this.#live.size });
      this.#lookIn(0);
    }
  }

  /** Transactions that are not mined yet, for all that is known. */
  get waiting(): number {
    return [...this.#live].filter(isWaiting).length;
  }

  /** Milliseconds that the oldest of these has waited; 0 without any. */
  get oldestWaitMs(): number {
    const now = performance.now();
    const waits = [...this.#live].filter(isWaiting).map(({ begunAt }) => now - begunAt);
    return Math.max(0, ...waits);
  }

  /** Outcome of a payment for which a transaction was signed; undefined for any other. */
  outcomeOf(payment: Payment): Promise<Outcome> | undefined {
    return this.#underway.get(paymentKey(payment))?.outcome.promise;
  }

  /** Units of the coin that this payer's waiting transactions will move. */
  committed({ payer }: Payment): bigint {
    return [...this.#live]
      .flatMap(({ isMined, parts }) => (isMined ? [] : parts))
      .filter(({ payment }) => payment.payer === payer)
      .reduce((sum, { payment }) => sum + payment.value, 0n);
  }

  /** Cost of a transaction; undefined for one of another wallet. @throws when no node answers */
  async sent(transaction: string): Promise<SettledBy | undefined> {
    const receipt = await this.#read(transaction);
    const isOurs = receipt?.from.toLowerCase() === this.#from;
    return receipt && isOurs ? bySelf(this.#costOf(receipt)) : undefined;
  }

  /**
   * Signs the transaction of one or several payments, writes it down and sends it. `feeMax`: wei for a unit of gas, beyond which it is
   * replaced only to let others pass.
   * @returns what becomes of each, once it is written down. @throws why it could not be: nothing was sent then
   */
  async send(
    ready: readonly Ready[],
    { fees, feeMax, head: { count } }: { fees: Fees; feeMax: bigint; head: Head },
  ): Promise<readonly Promise<Outcome>[]> {
    this.#floor = Math.max(this.#floor, count);
    const accountNonce = this.#nextNonce();
    this.#signing.add(accountNonce);
    try {
      const parts = ready.map(({ payment, gas }) => ({ payment, gas }));
      const call = ready.length === 1 ? ready[0]!.call : togetherCall(ready.map(({ call }) => call));
      // Gas of each as if alone in its transaction: what that takes beyond the call is enough for the frame of the calls.
      const gas = parts.reduce((sum, part) => sum + part.gas, 0n);
      const { length: calls } = parts;
      const id = rowId(parts);
      const former = { id, parts, calls, feeMax, from: this.#from, call, accountNonce, gas, attempts: [] };
      const signed = { ...former, attempts: [await this.#sign(former, fees)] };
      await this.#deps.rows.write(signed);
      const live = this.#add(signed);
      void this.#broadcast(live).then(() => this.#lookIn(this.#paces.lookMs / 4));
      return live.parts.map(({ outcome }) => outcome.promise);
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

  #add(signed: SignedTransfer, known?: Underway): Live {
    const parts = known
      ? [known]
      : signed.parts.map((part) => ({ ...part, outcome: Promise.withResolvers<Outcome>() }));
    const now = performance.now();
    const live: Live = {
      signed,
      parts,
      isMined: false,
      begunAt: now,
      sentAt: Number.NEGATIVE_INFINITY,
      signedAt: now,
      unseen: 0,
      isUnderpriced: false,
    };
    this.#live.add(live);
    for (const part of parts) this.#underway.set(paymentKey(part.payment), part);
    return live;
  }

  #nextNonce(): number {
    const used = new Set(this.#signing);
    for (const { signed } of this.#live) if (signed.from === this.#from) used.add(signed.accountNonce);
    let next = this.#floor;
    while (used.has(next)) next++;
    return next;
  }

  async #sign({ call, accountNonce, gas }: SignedTransfer, fees: Fees): Promise<Attempt> {
    const { keccak256 } = await import('viem');
    const raw = await this.#deps.wallet.signTransaction({
      type: 'eip1559',
      chainId: this.#deps.asset.chainId,
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
    const inOrder = [...this.#live].sort((a, b) => a.signed.accountNonce - b.signed.accountNonce);
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
    const { calls } = live.signed;
    const isMade = ({ payment }: Part) => mined.isDone && (calls === 1 || isMadeIn(mined.receipt, payment));
    if (isWaiting(live)) {
      for (const part of live.parts.filter(({ told }) => !told)) {
        if (calls > 1 && !isMade(part)) {
          await this.#separate(live, part, head, mined);
          continue;
        }
        const outcome = isMade(part)
          ? { kind: 'settled' as const, transaction: mined.hash, by: bySelf(mined.cost) }
          : await this.#afterRevert(part.payment, mined);
        if (outcome?.kind === 'refused') await this.#drop(live, part, outcome);
        else if (outcome) tell(part, outcome);
      }
      return;
    }
    if (blocks < FINAL_BLOCKS) return;
    for (const part of live.parts) if (!isMade(part)) await this.#reportReorganised(part, mined.hash);
    await this.#end(live);
  }

  /**
   * A payment that failed among others. With its money there, either its wallet has code that uses up the gas of all, or it is the victim of
   * one: it is signed for itself, which tells the two apart, and for some time no others are put together. Who is hurt is this server,
   * by the gas of one transaction an hour.
   */
  async #separate(live: Live, part: Underway, head: Head, { hash, cost }: Mined): Promise<void> {
    const isAgain = await this.#anewAlone(live, part, head);
    if (!isAgain) return;
    this.#deps.log({ level: 'error', event: 'settled_together_failed', transaction: hash, ...cost });
    this.#failedAt = performance.now();
  }

  /** A payment failed among others a short time ago, though it had its money. */
  get isDisturbed(): boolean {
    return performance.now() - this.#failedAt < DISTURBED_MS;
  }

  /** Outcome of the payment whose transaction was reverted: another sender may have settled the same authorization before. */
  async #afterRevert(payment: Payment, mined: Mined): Promise<Outcome | undefined> {
    const seen = await this.#deps.witness.look(payment);
    if (seen.kind === 'unused') {
      const isPoor = seen.balance < payment.value;
      return { ...refused(isPoor ? 'insufficient_funds' : REVERTED), by: bySelf(mined.cost) };
    }
    const proven = provenBy(seen, payment);
    if (proven?.kind === 'settled') reportAnother(this.#deps.log, payment, proven);
    if (proven?.kind === 'settled') return { ...proven, by: mined.cost };
    return proven?.kind === 'refused' ? { ...proven, by: bySelf(mined.cost) } : undefined;
  }

  /** The account nonce went to a transaction that is not here: lost with a disk, or of another server with this key. */
  async #usedByAnother(live: Live, head: Head): Promise<void> {
    const { accountNonce } = live.signed;
    this.#deps.log({ level: 'error', event: 'gas_key_used_elsewhere', account_nonce: accountNonce });
    for (const part of live.parts) await this.#anewAlone(live, part, head);
  }

  /** Its account nonce is used and did not make it: if it is still free it is signed for itself, with another one. @returns true if it was */
  async #anewAlone(live: Live, part: Underway, head: Head): Promise<boolean> {
    this.#floor = Math.max(this.#floor, head.count);
    const { payment } = part;
    const seen = await this.#deps.witness.look(payment);
    const outcome = seen.kind === 'unused' ? this.#endOf(live, part, head, seen) : endOfUsed(seen, payment);
    if (outcome) await this.#drop(live, part, outcome);
    if (outcome || seen.kind !== 'unused') return false;
    const fees = this.#deps.gas.fees(head, live.signed.feeMax);
    if (fees) await this.#signAlone(live, part, fees);
    return fees !== undefined;
  }

  /** Why a free authorization is not signed for anew; undefined where it is. */
  #endOf(
    { signed: { from } }: Live,
    { payment }: Part,
    { timestamp }: Head,
    { balance }: { readonly balance: bigint },
  ): Outcome | undefined {
    if (timestamp >= payment.validBefore || from !== this.#from) return refused('authorization_expired');
    return balance < payment.value ? refused('insufficient_funds') : undefined;
  }

  async #signAlone(live: Live, part: Underway, fees: Fees): Promise<void> {
    const { payment, gas } = part;
    const { calls, call, from, feeMax } = live.signed;
    const accountNonce = this.#nextNonce();
    this.#signing.add(accountNonce);
    try {
      const parts = [{ payment, gas }];
      const own = calls === 1 ? call : transferCall(payment);
      const id = rowId(parts);
      const former = { id, parts, calls: 1, feeMax, from, call: own, accountNonce, gas, attempts: [] };
      const signed = { ...former, attempts: [await this.#sign(former, fees)] };
      await this.#deps.rows.write(signed);
      await this.#leave(live, part, { isKept: id === live.signed.id });
      await this.#broadcast(this.#add(signed, part));
    } finally {
      this.#signing.delete(accountNonce);
    }
  }

  /** Its account nonce is free: it waits, or was reorganised away. */
  async #unused(live: Live, head: Head, isFirst: boolean): Promise<void> {
    live.isMined = false;
    const { from, accountNonce } = live.signed;
    // Without the former key it cannot be replaced, and it can pay nothing more.
    const isOver = ({ payment }: Part) => head.timestamp > payment.validBefore + CHAIN_LAG_S;
    if (from !== this.#from && isWaiting(live) && live.parts.every(isOver)) {
      for (const part of live.parts) await this.#drop(live, part, refused('authorization_expired'));
      return;
    }
    const now = performance.now();
    const isStuck = live.isUnderpriced || (isFirst && now - live.signedAt > this.#paces.stuckMs);
    if (isStuck && from === this.#from) {
      const { signed } = live;
      // What holds others up is not left to wait for a cheaper block.
      const holdsUp = [...this.#live].some(
        (other) => other.signed.from === from && !other.isMined && other.signed.accountNonce > accountNonce,
      );
      const feeMax = holdsUp ? this.#deps.feeMax : (signed.feeMax ?? this.#deps.feeMax);
      const wanted = this.#deps.gas.fees(head, feeMax);
      const fees = wanted && replacementFees(signed.attempts.at(-1)!, wanted, feeMax);
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
          cost: this.#costOf(receipt),
          receipt,
        };
    }
    return undefined;
  }

  #read(hash: string): Promise<Receipt | undefined> {
    return this.#deps.nodes.first((node) => node.find<Receipt>('eth_getTransactionReceipt', [hash]));
  }

  #costOf(receipt: Receipt): Cost {
    const { asset, gas } = this.#deps;
    const gasWei = gasWeiOf(receipt, asset);
    return gasWei === undefined ? {} : { gasWei, gasUnits: gas.usdUnitsOf(gasWei) };
  }

  /** Reports a settlement that a reorganisation deeper than `blocks` took back, unless another sender made it. */
  async #reportReorganised({ payment }: Part, transaction: Hex): Promise<void> {
    const seen = await this.#deps.witness.look(payment);
    if (seen.kind === 'settled') return;
    const { payer, nonce } = payment;
    this.#deps.log({ level: 'error', event: 'settlement_reorganised', payer, nonce, transaction });
  }

  /** It is off its row before the outcome is reported: a payment that was refused may be settled once more. */
  async #drop(live: Live, part: Underway, outcome: Outcome): Promise<void> {
    await this.#leave(live, part);
    this.#underway.delete(paymentKey(part.payment));
    tell(part, outcome);
  }

  /** Takes a payment off its transaction. `isKept`: the row is another transaction's already. */
  async #leave(live: Live, part: Underway, { isKept = false } = {}): Promise<void> {
    live.parts = live.parts.filter((other) => other !== part);
    live.signed = { ...live.signed, parts: live.parts.map(({ payment, gas }) => ({ payment, gas })) };
    if (live.parts.length === 0) this.#live.delete(live);
    if (isKept) return;
    if (live.parts.length > 0) await this.#deps.rows.write(live.signed);
    else await this.#deps.rows.remove(live.signed.id);
  }

  async #end(live: Live): Promise<void> {
    await this.#deps.rows.remove(live.signed.id);
    this.#live.delete(live);
    for (const { payment } of live.parts) this.#underway.delete(paymentKey(payment));
  }
}

/** Undefined where what used it is not known yet: it is looked at again. */
function endOfUsed(seen: Sighting, payment: Payment): Outcome | undefined {
  const proven = provenBy(seen, payment);
  return proven && (proven.kind === 'settled' ? proven : refused('authorization_already_used'));
}

/** Some of its payments have no outcome yet. */
function isWaiting({ parts }: Live): boolean {
  return parts.some(({ told }) => !told);
}

function tell(part: Underway, outcome: Outcome): void {
  if (part.told) return;
  part.told = outcome;
  part.outcome.resolve(outcome);
}
