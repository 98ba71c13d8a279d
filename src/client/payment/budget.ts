import { type AtomicAmount, formatUsd, parseUsd } from '@farthing/protocol/money';
import { FarthingError } from '../answers/error.ts';

/** US dollars: a decimal string, or a number that has at most six decimals. */
export type Usd = string | number;

export interface Spending {
  /** Charged for certain, or possibly: an answer that never came counts. */
  readonly spentUsd: string;
  /** Signed and not charged so far; the next call of the same price uses it. */
  readonly heldUsd: string;
  /** Null without a budget. */
  readonly leftUsd: string | null;
}

/**
 * The spending limit. An amount is held from before the signature until its authorization can't be charged any
 * more, so that everything ever signed together stays within the budget even if the server charges all of it.
 */
export class Budget {
  readonly #priceMax: AtomicAmount;
  readonly #total: AtomicAmount | undefined;
  #spent = 0n;
  #held = 0n;

  constructor(maxPriceUsd: Usd, budgetUsd: Usd | undefined) {
    this.#priceMax = parseUsd(String(maxPriceUsd));
    this.#total = budgetUsd === undefined ? undefined : parseUsd(String(budgetUsd));
  }

  /** Whether one call may cost so much. @param maxPriceUsd the call's own limit, which cannot raise the client's @throws price_over_limit */
  checkPrice(amount: AtomicAmount, maxPriceUsd?: Usd): void {
    const limits = [...(maxPriceUsd === undefined ? [] : [parseUsd(String(maxPriceUsd))]), this.#priceMax];
    const limit = limits.find((max) => amount > max);
    if (limit === undefined) return;
    throw new FarthingError(
      'price_over_limit',
      `The price is ${formatUsd(amount)} USD and maxPriceUsd is ${formatUsd(limit)}. Nothing was signed; raise maxPriceUsd to allow it.`,
      { facts: { price_usd: formatUsd(amount), max_price_usd: formatUsd(limit) } },
    );
  }

  /** @throws budget_exceeded */
  hold(amount: AtomicAmount): void {
    if (this.#total !== undefined && this.#spent + this.#held + amount > this.#total) {
      const left = formatUsd(this.#total - this.#spent - this.#held);
      throw new FarthingError(
        'budget_exceeded',
        `The price is ${formatUsd(amount)} USD and ${left} of the budget of ${formatUsd(this.#total)} USD are left. Nothing was signed; raise budgetUsd to go on.`,
        { facts: { price_usd: formatUsd(amount), left_usd: left, budget_usd: formatUsd(this.#total) } },
      );
    }
    this.#held += amount;
  }

  /** A held amount was charged. */
  spend(amount: AtomicAmount): void {
    this.#held -= amount;
    this.#spent += amount;
  }

  /** A held amount can't be charged any more. */
  release(amount: AtomicAmount): void {
    this.#held -= amount;
  }

  get spending(): Spending {
    return {
      spentUsd: formatUsd(this.#spent),
      heldUsd: formatUsd(this.#held),
      leftUsd: this.#total === undefined ? null : formatUsd(this.#total - this.#spent - this.#held),
    };
  }
}
