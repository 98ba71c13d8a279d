import type { Clock } from '@farthing/protocol/clock';
import { payerTenantId } from '@farthing/protocol/id';
import type { AnswerStore } from './answers.ts';
import type { JournalLimits } from './journal.ts';
import type { PaymentRecords } from './records.ts';

export interface SweepDeps {
  readonly records: PaymentRecords;
  readonly answers: AnswerStore;
  readonly journalLimits: JournalLimits;
  readonly clock: Clock;
  readonly log: (event: Readonly<Record<string, unknown>>) => void;
}

const INTERVAL_MS = 60_000;

/** Deletes expired records and answers, once a minute and when asked. */
export class Sweep {
  readonly #deps: SweepDeps;
  readonly #timer: NodeJS.Timeout;
  #running: Promise<void> | undefined;
  #closed = false;

  constructor(deps: SweepDeps) {
    this.#deps = deps;
    this.#timer = setInterval(() => void this.now(), INTERVAL_MS).unref();
  }

  /** One at a time; it ends early when closed. Never throws. */
  now(): Promise<void> {
    this.#running ??= this.#sweep()
      .catch((error) => this.#deps.log({ level: 'error', event: 'payment_sweep_failed', error }))
      .finally(() => {
        this.#running = undefined;
      });
    return this.#running;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#closed = true;
    await this.#running;
  }

  async #sweep(): Promise<void> {
    const { records, answers, clock, journalLimits, log } = this.#deps;
    let more: boolean;
    do {
      const swept = await records.sweep();
      more = swept.more;
      for (const { key, payer } of swept.forgotten)
        await answers
          .remove(payerTenantId(payer), key)
          .catch((error) => log({ level: 'error', event: 'payment_sweep_failed', error }));
    } while (more && !this.#closed);
    do {
      more = (await records.journal.prune(clock.now(), journalLimits)) > 0;
    } while (more && !this.#closed);
  }
}
