import type { Address } from '@farthing/protocol/address';
import { FarthingError } from '@farthing/protocol/error';
import { Owners } from '@farthing/queues/owners';
import type { InFlightRequests } from './in-flight-requests.ts';
import type { Settlements } from './settlements.ts';
import { VerifyQueues } from './verifications.ts';

/** A gate's purchases. */
export interface GateCounts {
  readonly inFlight: Pick<InFlightRequests, 'purchaseCount' | 'purchaseCountOf'>;
  readonly settlements: Pick<Settlements, 'pendingCount'>;
}

/** Purchases that may be in flight for each that may run: those of unknown outcome are a few kilobytes each. */
const UNFINISHED_FACTOR = 16;
/** No payer has more than this part of the purchases in flight, so that at least eight can pay. */
const PAYER_PART = 1 / 8;
/** All wallets together that never paid have this part of those that run. */
const UNPROVEN_PART = 1 / 2;

/**
 * Bounds the purchases that run at once in all gates of a process: several stores do not multiply a limit. A payment of unknown outcome
 * runs nothing, but is retained until its window ends: it counts for its payer only.
 */
export class PurchaseLimits {
  readonly owners: Owners;
  readonly verifyQueues: VerifyQueues;
  readonly #purchasesMax: number;
  readonly #gates = new Set<GateCounts>();
  #unproven = 0;

  /** @param purchasesMax purchases that may run at once */
  constructor(purchasesMax: number, owners = new Owners()) {
    this.#purchasesMax = purchasesMax;
    this.owners = owners;
    this.verifyQueues = new VerifyQueues(owners);
  }

  /** @returns takes it out again */
  join(gate: GateCounts): () => void {
    this.#gates.add(gate);
    return () => void this.#gates.delete(gate);
  }

  /**
   * @param gate the payer's
   * @returns leaves, once the purchase has its outcome
   * @throws overloaded when one more purchase of this payer is too many
   */
  enter(payer: Address, { inFlight }: GateCounts): () => void {
    const purchasesMax = this.#purchasesMax;
    const unproven = this.owners.knows(payer) ? 0 : 1;
    let inAll = 0;
    let pending = 0;
    for (const gate of this.#gates) {
      inAll += gate.inFlight.purchaseCount;
      pending += gate.settlements.pendingCount;
    }
    if (
      inAll - pending >= purchasesMax ||
      inAll >= UNFINISHED_FACTOR * purchasesMax ||
      inFlight.purchaseCountOf(payer) >= PAYER_PART * purchasesMax ||
      (unproven > 0 && this.#unproven >= UNPROVEN_PART * purchasesMax)
    )
      throw tooBusy();
    this.#unproven += unproven;
    return () => {
      this.#unproven -= unproven;
    };
  }
}

export function tooBusy(): FarthingError {
  return new FarthingError('overloaded', 'Too many paid requests are running. Try again in a moment.', {
    retryAfterS: 1,
  });
}
