import type { Address } from '../../domain/address.ts';
import { FarthingError } from '../../domain/error.ts';
import type { InFlightRequests } from './in-flight-requests.ts';
import type { Settlements } from './settlements.ts';
import type { Verifications } from './verifications.ts';

export interface CrowdDeps {
  readonly inFlight: InFlightRequests;
  readonly settlements: Settlements;
  readonly verifications: Verifications;
  /** Purchases that may run at once. */
  readonly purchasesMax: number;
}

/** Purchases that may be in flight for each that may run: those of unknown outcome are a few kilobytes each. */
const UNFINISHED_FACTOR = 16;
/** No payer has more than this part of the purchases in flight, so that at least eight can pay. */
const OF_ONE_PAYER = 1 / 8;
/** All wallets together that never paid have this part of those that run. */
const OF_STRANGERS = 1 / 2;

/**
 * Shares out the purchases that may run at once. A payment whose outcome is unknown runs nothing, but is kept until its window is
 * over: it takes nobody's place but its payer's.
 */
export class Crowd {
  readonly #deps: CrowdDeps;
  #strangers = 0;

  constructor(deps: CrowdDeps) {
    this.#deps = deps;
  }

  get running(): number {
    return this.#deps.inFlight.purchaseCount - this.#deps.settlements.pendingCount;
  }

  /** @throws overloaded when one more purchase of this payer is too many */
  admit(payer: Address): void {
    const { inFlight, purchasesMax, verifications } = this.#deps;
    if (
      this.running >= purchasesMax ||
      inFlight.purchaseCount >= UNFINISHED_FACTOR * purchasesMax ||
      inFlight.purchaseCountOf(payer) >= OF_ONE_PAYER * purchasesMax ||
      (!verifications.knows(payer) && this.#strangers >= OF_STRANGERS * purchasesMax)
    )
      throw tooBusy();
  }

  /** Counts the purchase while it runs, from its claim until its outcome. */
  async run<T>(payer: Address, purchase: () => Promise<T>): Promise<T> {
    if (this.#deps.verifications.knows(payer)) return await purchase();
    this.#strangers += 1;
    try {
      return await purchase();
    } finally {
      this.#strangers -= 1;
    }
  }
}

export function tooBusy(): FarthingError {
  return new FarthingError('overloaded', 'Too many paid requests are running. Try again in a moment.', {
    retryAfterS: 1,
  });
}
