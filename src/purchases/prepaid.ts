import type { Address } from '../domain/address.ts';
import { type AtomicAmount, formatUsd } from '../domain/money.ts';
import type { Answer, EffectHandler, EffectRef, WorkOutcome } from '../domain/payment.ts';
import type { PrepaidBalances } from '../payment/prepaid/balances.ts';

/** Money paid in advance: it is in the balance once its payment is settled. */
export class Prepaying implements EffectHandler<'prepay'> {
  readonly needsProof = true;
  readonly #balances: PrepaidBalances;

  constructor(balances: PrepaidBalances) {
    this.#balances = balances;
  }

  /** @throws prepaid_limit_exceeded */
  async buy(payer: Address, amount: AtomicAmount): Promise<WorkOutcome> {
    const step = await this.#balances.begin('add', payer, amount);
    return { charged: true, effect: { kind: 'prepay', ref: { step } } };
  }

  async commit({ step }: EffectRef<'prepay'>): Promise<Answer> {
    const { amount, left } = await this.#balances.commit(step);
    const body = { added_usd: formatUsd(amount), prepaid_usd: formatUsd(left), charged: true };
    return { status: 200, headers: {}, body };
  }

  reissue(ref: EffectRef<'prepay'>): Promise<Answer> {
    return this.commit(ref);
  }

  undo({ step }: EffectRef<'prepay'>): Promise<void> {
    return this.#balances.undo(step);
  }

  async pending(): Promise<EffectRef<'prepay'>[]> {
    return this.#balances.open('add').map((step) => ({ step }));
  }
}

/** Prepaid money back: it leaves the balance as a payment does, and is then owed to its payer. */
export class PrepaidRefunds implements EffectHandler<'prepaid_refund'> {
  readonly #balances: PrepaidBalances;

  constructor(balances: PrepaidBalances) {
    this.#balances = balances;
  }

  async buy(payer: Address, amount: AtomicAmount): Promise<WorkOutcome> {
    const step = await this.#balances.begin('refund', payer, amount);
    return { charged: true, effect: { kind: 'prepaid_refund', ref: { step } } };
  }

  async commit({ step }: EffectRef<'prepaid_refund'>): Promise<Answer> {
    const { amount, left } = await this.#balances.commit(step);
    const body = { id: step, refund_usd: formatUsd(amount), prepaid_usd: formatUsd(left), charged: true };
    return { status: 200, headers: {}, body };
  }

  reissue(ref: EffectRef<'prepaid_refund'>): Promise<Answer> {
    return this.commit(ref);
  }

  undo({ step }: EffectRef<'prepaid_refund'>): Promise<void> {
    return this.#balances.undo(step);
  }

  async pending(): Promise<EffectRef<'prepaid_refund'>[]> {
    return this.#balances.open('refund').map((step) => ({ step }));
  }
}
