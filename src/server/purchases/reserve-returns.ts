import type { PaymentGate } from '@farthing/payment/gate/gate';
import type { PrepaidReturn } from '@farthing/payment/prepaid/balances';
import { type LeadsHere, payerTenantId, type StepId } from '@farthing/protocol/id';
import type { Store } from '../state/store.ts';
import type { Workspaces } from '../workspace/workspaces.ts';

export interface ReserveReturnsDeps {
  readonly workspaces: Pick<Workspaces, 'returns' | 'returned'>;
  readonly gate: Pick<PaymentGate, 'takeBack'>;
  /** The store of both. */
  readonly store: Pick<Store, 'stable'>;
  readonly leadsHere: LeadsHere;
  /** Notifies another store, which the wallet belongs to. @throws while it is unavailable */
  readonly returnTo: (owed: PrepaidReturn) => Promise<void>;
  readonly log: (event: object) => void;
}

/** Refunds delivered in one sweep. */
const RETURNS_AT_ONCE = 64;

/**
 * Unused minutes in reserve become prepaid money again. The workspace's store records the debt; the wallet's store, which may be another
 * one, credits it once. Only then the record is deleted, so that a crash between the two at most repeats it.
 */
export class ReserveReturns {
  readonly #deps: ReserveReturnsDeps;
  /** The last of a full round: what cannot be handed over holds up nothing behind it. */
  #after: StepId | undefined;
  #delivering: Promise<void> | undefined;
  #closed = false;

  constructor(deps: ReserveReturnsDeps) {
    this.#deps = deps;
  }

  /** Delivers refunds. Those that fail are retried by the next call. */
  deliver(): Promise<void> {
    if (this.#closed) return Promise.resolve();
    this.#delivering ??= this.#deliver().finally(() => {
      this.#delivering = undefined;
    });
    return this.#delivering;
  }

  /** Resolves when nothing is handed over any more. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#delivering;
  }

  async #deliver(): Promise<void> {
    const { workspaces, log } = this.#deps;
    const round = workspaces.returns(RETURNS_AT_ONCE, this.#after);
    this.#after = round.length === RETURNS_AT_ONCE ? round.at(-1)!.step : undefined;
    for (const owed of round) {
      if (this.#closed) return;
      try {
        await this.#handOver(owed);
        await workspaces.returned(owed.step);
      } catch (error) {
        log({ level: 'warn', event: 'reserve_not_returned', error: String(error) });
      }
    }
  }

  async #handOver(owed: PrepaidReturn): Promise<void> {
    const { gate, store, leadsHere, returnTo } = this.#deps;
    if (leadsHere(payerTenantId(owed.payer))) return gate.takeBack(owed);
    // The debt must survive the loss of this disk before another store has it.
    await store.stable?.();
    return returnTo(owed);
  }
}
