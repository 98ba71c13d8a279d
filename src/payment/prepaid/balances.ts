import { hash } from 'node:crypto';
import type { Address } from '@farthing/protocol/address';
import type { Clock } from '@farthing/protocol/clock';
import { FarthingError } from '@farthing/protocol/error';
import { newId, type PrepaidStepId, type StepId } from '@farthing/protocol/id';
import { type AtomicAmount, formatUsd } from '@farthing/protocol/money';
import type { Settlement, Verification } from '../facilitator/facilitator.ts';
import { type Payment, paymentKey, type Terms } from '../payment.ts';
import type { Store, Table } from '../store.ts';

/** Prepaid money of a wallet. Amounts are decimal strings of millionths of a dollar: left = added − spent. */
interface Balance {
  readonly left: string;
  readonly added: string;
  readonly spent: string;
  /** Payments in that are not settled yet. */
  readonly coming: string;
  /** Milliseconds since the epoch of the last payment in or out. */
  readonly used: number;
}

interface Spend {
  readonly money: string;
  readonly to: Address;
  readonly value: string;
  readonly transaction: string;
  /** Balance after the spend. */
  readonly left: string;
}

/** Money on its way in (`add`) or out (`refund`). A payment's effect: nothing is moved before its commit. */
interface Step {
  readonly kind: 'add' | 'refund';
  readonly money: string;
  readonly payer: Address;
  readonly amount: string;
  readonly time: number;
  /** `open`: its payment is not settled yet. `due`: to be paid back by the operator. */
  readonly state: 'open' | 'added' | 'due' | 'refunded';
  /** Transaction of a refund, once it was made. */
  readonly transaction?: string;
}

/** A wallet's prepaid money, for the operator. */
export interface PrepaidAccount {
  readonly payer: Address;
  readonly left: AtomicAmount;
  readonly added: AtomicAmount;
  readonly spent: AtomicAmount;
  readonly used: number;
}

/** A refund that its payer asked for. */
export interface PrepaidRefund {
  readonly id: PrepaidStepId;
  readonly payer: Address;
  readonly amount: AtomicAmount;
  readonly time: number;
  readonly isDue: boolean;
  readonly transaction: string | undefined;
}

export interface PrepaidLimits {
  /** Maximum balance of one wallet. */
  readonly usdMax: AtomicAmount;
  /** A balance that is not used for so long can be refunded, and not spent, until something is added to it. */
  readonly idleDaysMax: number;
}

/** Money for purchased but unused time, which is prepaid money again. */
export interface PrepaidReturn {
  readonly step: StepId;
  readonly payer: Address;
  /** Its kind of money: `PrepaidBalances.money` at that time. */
  readonly money: string;
  readonly amount: AtomicAmount;
  /** Milliseconds since the epoch: when it came to be owed. */
  readonly time: number;
}

const NOTHING: Balance = { left: '0', added: '0', spent: '0', coming: '0', used: 0 };
const DAY_MS = 86_400_000;
/** A spend is known for so long after its authorization ended: until then the same one may be asked for again. */
const KNOWN_AFTER_END_S = 86_400;
/** How long a return is remembered: it may be repeated until its sender knows that it was received. */
const RETURN_KNOWN_S = 90 * 86_400;
/** Ended ones that each spend, or return, removes. Spends look for them now and then. */
const REMOVED_MAX = 2;
const SPENDS_PER_LOOK = 16;
/** Every transaction hash of a prepaid payment begins so: no chain has a transaction like it. */
export const PREPAID_TRANSACTION_PREFIX = '0x9ae9a1d000000000';

/**
 * The prepaid money of one store. Each change is one durable transaction, and may be repeated. Stores outlive their settings: money of one
 * kind, such as play money, is neither spent nor owed in another.
 */
export class PrepaidBalances {
  /** Kind of money that is paid in: a network, or play money. */
  readonly money: string;
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #limits: PrepaidLimits;
  /** By money and payer. */
  readonly #balances: Table<Balance>;
  /** By the end of the authorization, payer and nonce. */
  readonly #spends: Table<Spend>;
  readonly #steps: Table<Step>;
  /** By time and step. */
  readonly #returns: Table<null>;
  #taken = 0;

  constructor(parts: {
    readonly money: string;
    readonly store: Store;
    readonly clock: Clock;
    readonly limits: PrepaidLimits;
  }) {
    this.money = parts.money;
    this.#store = parts.store;
    this.#clock = parts.clock;
    this.#limits = parts.limits;
    this.#balances = parts.store.table('prepaid_balances');
    this.#spends = parts.store.table('prepaid_spends');
    this.#steps = parts.store.table('prepaid_steps');
    this.#returns = parts.store.table('prepaid_returns');
  }

  /** False where money that was prepaid may be spent, and no more is taken. */
  get takesMoney(): boolean {
    return this.#limits.usdMax > 0n;
  }

  /** Amount that a wallet may spend now. */
  left(payer: Address): AtomicAmount {
    const balance = this.#balanceOf(payer);
    return this.#isIdle(balance) ? 0n : BigInt(balance.left);
  }

  /** Amount that may be refunded to a wallet: includes balances that were idle for too long to be spent. */
  refundable(payer: Address): AtomicAmount {
    return BigInt(this.#balanceOf(payer).left);
  }

  /** Whether a payment can be made; its signature is checked elsewhere. */
  verify(payment: Payment, terms: Terms): Verification {
    const reason = this.#spends.get(spendKey(payment))
      ? 'authorization_already_used'
      : this.#fault(payment, terms, this.#balanceOf(payment.payer));
    return reason === undefined ? { valid: true } : { valid: false, reason };
  }

  /** Takes the money once, however often it is called. */
  async spend(payment: Payment, terms: Terms): Promise<Settlement> {
    const earlier = this.spent(payment);
    return earlier.kind === 'absent' ? this.#store.transaction(() => this.take(payment, terms)) : earlier;
  }

  /** The same, as a part of a transaction of the store. */
  take(payment: Payment, terms: Terms): Settlement {
    const key = spendKey(payment);
    const earlier = this.#spends.get(key);
    if (earlier) return isSame(earlier, payment) ? settledBy(earlier) : refused('authorization_already_used');
    const before = this.#balanceOf(payment.payer);
    const reason = this.#fault(payment, terms, before);
    if (reason !== undefined) return refused(reason);
    if (this.#taken++ % SPENDS_PER_LOOK === 0)
      this.#forget(this.#spends, KNOWN_AFTER_END_S, SPENDS_PER_LOOK * REMOVED_MAX);
    const left = this.#take(payment.payer, payment.value, this.money, before);
    const spend: Spend = {
      money: this.money,
      to: payment.payTo,
      value: payment.value.toString(),
      transaction: transactionOf(payment),
      left: left.toString(),
    };
    this.#spends.put(key, spend);
    return settledBy(spend);
  }

  /** Nothing was bought after all: undoes `take`, as a part of a transaction of the store. */
  giveBack(payment: Payment): void {
    const key = spendKey(payment);
    const spend = this.#spends.get(key);
    if (!spend) return;
    this.#spends.remove(key);
    this.#take(payment.payer, -payment.value, spend.money);
  }

  /** Refunds an unused part of a purchase, within a transaction of the store. Idempotent. @returns false if it was refunded before */
  takeBack({ step, payer, money, amount, time }: PrepaidReturn): boolean {
    const key = `${endKey(BigInt(Math.floor(time / 1000)))}/${step}`;
    if (this.#returns.get(key) !== undefined) return false;
    this.#forget(this.#returns, RETURN_KNOWN_S, REMOVED_MAX);
    this.#returns.put(key, null);
    this.#take(payer, -amount, money);
    return true;
  }

  /** Outcome of a spend whose answer was lost. */
  spent(payment: Payment): Settlement | { readonly kind: 'absent' } {
    const spend = this.#spends.get(spendKey(payment));
    return spend && isSame(spend, payment) ? settledBy(spend) : { kind: 'absent' };
  }

  /** Records the amount that a payment will move once it is settled. @throws prepaid_limit_exceeded */
  begin(kind: Step['kind'], payer: Address, amount: AtomicAmount): Promise<PrepaidStepId> {
    const id = newId('prepaid');
    const [money, time] = [this.money, this.#clock.now()];
    const step: Step = { kind, money, payer, amount: amount.toString(), time, state: 'open' };
    return this.#store.transaction(() => {
      if (kind === 'add') this.#expect(payer, amount);
      this.#steps.put(id, step);
      return id;
    });
  }

  /** The payment of a step is settled. @returns what is left to spend. @throws Error for a step that was undone */
  commit(id: PrepaidStepId): Promise<{ readonly amount: AtomicAmount; readonly left: AtomicAmount }> {
    return this.#store.transaction(() => {
      const step = this.#steps.get(id);
      if (!step) throw new Error(`there is no prepaid step ${id}`);
      const amount = BigInt(step.amount);
      if (step.state === 'open') {
        if (step.kind === 'add') this.#add(step, amount);
        this.#steps.put(id, { ...step, state: step.kind === 'add' ? 'added' : 'due' });
      }
      return { amount, left: this.left(step.payer) };
    });
  }

  /** The payment of a step failed. */
  async undo(id: PrepaidStepId): Promise<void> {
    await this.#store.transaction(() => {
      const step = this.#steps.get(id);
      if (step?.state !== 'open') return;
      this.#steps.remove(id);
      if (step.kind === 'add') this.#expectNoMore(step, BigInt(step.amount));
    });
  }

  /** Steps whose payments are not settled yet. */
  open(kind: Step['kind']): PrepaidStepId[] {
    const found: PrepaidStepId[] = [];
    for (const { key, value } of this.#steps.range())
      if (value.state === 'open' && value.kind === kind) found.push(key as PrepaidStepId);
    return found;
  }

  /** The operator has paid a refund. @returns false for one that is not due */
  refunded(id: PrepaidStepId, transaction: string): Promise<boolean> {
    return this.#store.transaction(() => {
      const step = this.#steps.get(id);
      if (step?.kind !== 'refund' || step.state !== 'due') return false;
      this.#steps.put(id, { ...step, state: 'refunded', transaction });
      return true;
    });
  }

  *accounts(): Iterable<PrepaidAccount> {
    const start = balanceKey(this.money, '');
    for (const { key, value } of this.#balances.range({ start, end: `${start}~` }))
      yield {
        payer: key.slice(start.length) as Address,
        left: BigInt(value.left),
        added: BigInt(value.added),
        spent: BigInt(value.spent),
        used: value.used,
      };
  }

  *refunds(): Iterable<PrepaidRefund> {
    for (const { key, value } of this.#steps.range())
      if (value.kind === 'refund' && value.state !== 'open' && value.money === this.money)
        yield {
          id: key as PrepaidStepId,
          payer: value.payer,
          amount: BigInt(value.amount),
          time: value.time,
          isDue: value.state === 'due',
          transaction: value.transaction,
        };
  }

  #balanceOf(payer: Address, money = this.money): Balance {
    return { ...NOTHING, ...this.#balances.get(balanceKey(money, payer)) };
  }

  #isIdle({ used }: Balance): boolean {
    return this.#clock.now() - used > this.#limits.idleDaysMax * DAY_MS;
  }

  /** Within a transaction. What is idle stays so. @returns what is left */
  #take(
    payer: Address,
    amount: AtomicAmount,
    money: string,
    before = this.#balanceOf(payer, money),
  ): AtomicAmount {
    const left = BigInt(before.left) - amount;
    const spent = BigInt(before.spent) + amount;
    const used = this.#isIdle(before) ? before.used : this.#clock.now();
    const after = { ...before, left: left.toString(), spent: spent.toString(), used };
    this.#balances.put(balanceKey(money, payer), after);
    return left;
  }

  /** Within a transaction: what was expected has come. */
  #add({ payer, money }: Step, amount: AtomicAmount): void {
    const before = this.#balanceOf(payer, money);
    this.#balances.put(balanceKey(money, payer), {
      ...before,
      left: (BigInt(before.left) + amount).toString(),
      added: (BigInt(before.added) + amount).toString(),
      coming: (BigInt(before.coming) - amount).toString(),
      used: this.#clock.now(),
    });
  }

  /** Within a transaction. What is coming has its room, so that payments at once stay within it, too. */
  #expect(payer: Address, amount: AtomicAmount): void {
    const before = this.#balanceOf(payer);
    const coming = BigInt(before.coming) + amount;
    if (BigInt(before.left) + coming > this.#limits.usdMax) throw this.#limitExceeded(before);
    this.#balances.put(balanceKey(this.money, payer), { ...before, coming: coming.toString() });
  }

  /** Within a transaction. */
  #expectNoMore({ payer, money }: Step, amount: AtomicAmount): void {
    const key = balanceKey(money, payer);
    const before = this.#balanceOf(payer, money);
    const coming = BigInt(before.coming) - amount;
    if (before.added === '0' && coming === 0n) this.#balances.remove(key);
    else this.#balances.put(key, { ...before, coming: coming.toString() });
  }

  #limitExceeded({ left, coming }: Balance): FarthingError {
    const { usdMax } = this.#limits;
    const free = usdMax - BigInt(left) - BigInt(coming);
    const room = formatUsd(free < 0n ? 0n : free);
    return new FarthingError(
      'prepaid_limit_exceeded',
      `One wallet may have ${formatUsd(usdMax)} USD prepaid here; there is room for ${room}.`,
      { facts: { room_usd: room } },
    );
  }

  #fault(payment: Payment, terms: Terms, balance: Balance): string | undefined {
    const now = BigInt(Math.floor(this.#clock.now() / 1000));
    if (payment.value !== terms.amount) return 'amount_mismatch';
    if (payment.validBefore <= now) return 'authorization_expired';
    if (payment.validAfter > now) return 'authorization_not_yet_valid';
    const left = this.#isIdle(balance) && !terms.isRefund ? 0n : BigInt(balance.left);
    return left < payment.value ? 'insufficient_funds' : undefined;
  }

  /** Within a transaction, before it writes the table. */
  #forget(table: Table<unknown>, knownS: number, limit: number): void {
    const end = endKey(BigInt(Math.floor(this.#clock.now() / 1000) - knownS));
    for (const { key } of [...table.range({ end, limit })]) table.remove(key);
  }
}

/** Balances in one kind of money. @param ends removes them: nobody is owed them @returns how many wallets have something left, and how much in all */
export async function prepaidMoneyOf(
  store: Store,
  money: string,
  ends: boolean,
): Promise<{ readonly wallets: number; readonly left: AtomicAmount }> {
  const balances = store.table<Balance>('prepaid_balances');
  const start = balanceKey(money, '');
  let [wallets, total] = [0, 0n];
  for (const { key, value } of [...balances.range({ start, end: `${start}~` })]) {
    const left = BigInt(value.left);
    if (left > 0n) wallets += 1;
    total += left;
    if (ends) await balances.remove(key);
  }
  return { wallets, left: total };
}

const balanceKey = (money: string, payer: string) => `${money}/${payer}`;

function settledBy({ transaction, left }: Spend): Settlement {
  return { kind: 'settled', transaction, extra: { prepaid: true, left_usd: formatUsd(BigInt(left)) } };
}

const refused = (reason: string): Settlement => ({ kind: 'refused', reason });

const END_DIGITS = 20;
const endKey = (validBefore: bigint) => validBefore.toString().padStart(END_DIGITS, '0');

/** One authorization is used once: another end, value or recipient under the same nonce is refused by the payment records before. */
function spendKey({ validBefore, payer, nonce }: Payment): string {
  return `${endKey(validBefore)}/${payer}/${nonce}`;
}

function isSame({ to, value }: Spend, payment: Payment): boolean {
  return to === payment.payTo && value === payment.value.toString();
}

function transactionOf(payment: Payment): string {
  const digest = hash('sha256', paymentKey(payment));
  return PREPAID_TRANSACTION_PREFIX + digest.slice(0, 66 - PREPAID_TRANSACTION_PREFIX.length);
}
