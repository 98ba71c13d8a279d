import type { Address } from '@farthing/protocol/address';
import type { Clock } from '@farthing/protocol/clock';
import { forgetOldest } from '@farthing/queues/forget-oldest';
import type { Payment } from '../payment.ts';
import { type Outcome, REVERTED } from './outcome.ts';

/** How long a wallet that made a transaction fail buys nothing. */
const BARRED_MS = 3_600_000;
const BARRED_MAX = 4096;

/**
 * Wallets whose transfer was simulated and then reverted with the money at hand: they have code that tells the two apart, and would make
 * this server pay gas for nothing, again and again.
 */
export class Barred {
  /** Milliseconds since the epoch until which nothing is sent for them. */
  readonly #until = new Map<Address, number>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note({ payer }: Payment, outcome: Outcome): void {
    if (outcome.kind !== 'refused' || outcome.reason !== REVERTED) return;
    this.#until.set(payer, this.#clock.now() + BARRED_MS);
    forgetOldest(this.#until, BARRED_MAX);
  }

  has({ payer }: Payment): boolean {
    const until = this.#until.get(payer);
    if (until !== undefined && until <= this.#clock.now()) this.#until.delete(payer);
    return this.#until.has(payer);
  }
}
