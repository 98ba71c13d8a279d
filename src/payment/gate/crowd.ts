import type { Address } from '@farthing/protocol/address';
import { FarthingError } from '@farthing/protocol/error';
import { Owners } from '@farthing/queues/owners';
import type { InFlightRequests } from './in-flight-requests.ts';
import type { Settlements } from './settlements.ts';
import { VerificationLines } from './verifications.ts';

/** A gate's purchases. */
export interface GateCounts {
  readonly inFlight: Pick<InFlightRequests, 'purchaseCount' | 'purchaseCountOf'>;
  readonly settlements: Pick<Settlements, 'pendingCount'>;
}

/** Purchases that may be in flight for each that may run: those of unknown outcome are a few kilobytes each. */
const UNFINISHED_FACTOR = 16;
/** No payer has more than this part of the purchases in flight, so that at least eight can pay. */
const OF_ONE_PAYER = 1 / 8;
/** All wallets together that never paid have this part of those that run. */
const OF_STRANGERS = 1 / 2;

/**
 * Shares out the purchases that may run at once in all gates of a process: several sets of books multiply no limit. A payment of
 * unknown outcome runs nothing, but is kept until its window ends: it takes a place of its payer only.
 */
export class Crowd {
  readonly owners: Owners;
  readonly lines: VerificationLines;
  readonly #purchasesMax: number;
  readonly #gates = new Set<GateCounts>();
  #strangers = 0;

  /** @param purchasesMax purchases that may run at once */
  constructor(purchasesMax: number, owners = new Owners()) {
    this.#purchasesMax = purchasesMax;
    this.owners = owners;
    this.lines = new VerificationLines(owners);
  }

  /** @returns takes it out again */
  join(gate: GateCounts): () => void {
    this.#gates.add(gate);
    return () => void this.#gates.delete(gate);
  }

  /** @param gate the payer's. @throws overloaded when one more purchase of this payer is too many */
  admit(payer: Address, { inFlight }: GateCounts): void {
    const purchasesMax = this.#purchasesMax;
    let inAll = 0;
    let pending = 0;
    for (const gate of this.#gates) {
      inAll += gate.inFlight.purchaseCount;
      pending += gate.settlements.pendingCount;
    }
    if (
      inAll - pending >= purchasesMax ||
      inAll >= UNFINISHED_FACTOR * purchasesMax ||
      inFlight.purchaseCountOf(payer) >= OF_ONE_PAYER * purchasesMax ||
      (!this.owners.knows(payer) && this.#strangers >= OF_STRANGERS * purchasesMax)
    )
      throw tooBusy();
  }

  /** Counts the purchase while it runs, from its claim until its outcome. */
  async run<T>(payer: Address, purchase: () => Promise<T>): Promise<T> {
    if (this.owners.knows(payer)) return await purchase();
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
