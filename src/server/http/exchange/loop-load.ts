import { setTimeout as pause } from 'node:timers/promises';
import { TurnLimit } from '@farthing/queues/turn-limit';

/** Utilization of the event loop above which it counts as busy. */
const BUSY_SHARE = 0.75;
const LOOK_EVERY_MS = 200;
const REFUSAL_MS = 2000;
/** Each delayed refusal holds a connection. */
const DELAYED_MAX = 2048;
const REFUSALS_PER_TURN = 8;

/** Whether the event loop has time to spare. */
export class LoopLoad {
  readonly #now: () => number;
  #before = performance.eventLoopUtilization();
  #lookedAt: number;
  #isBusy = false;

  /** @param now milliseconds of a monotonic clock */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#lookedAt = now();
  }

  /** Over the last fifth of a second, or since the last look if that is longer ago. */
  get isBusy(): boolean {
    if (this.#now() - this.#lookedAt < LOOK_EVERY_MS) return this.#isBusy;
    this.#lookedAt = this.#now();
    this.#isBusy = performance.eventLoopUtilization(this.#before).utilization > BUSY_SHARE;
    this.#before = performance.eventLoopUtilization();
    return this.#isBusy;
  }
}

/** Delays refusals while the loop is busy, which slows clients that retry immediately. A few end in each turn of the loop. */
export class DelayedRefusals {
  readonly #load: Pick<LoopLoad, 'isBusy'>;
  readonly #ending = new TurnLimit(REFUSALS_PER_TURN);
  #delayed = 0;

  constructor(load: Pick<LoopLoad, 'isBusy'>) {
    this.#load = load;
  }

  /** Resolves when an answer may be sent: at once, unless it is a 429 or 503 of a busy loop. */
  async wait(status: number): Promise<void> {
    if (status !== 429 && status !== 503) return;
    if (!this.#load.isBusy || this.#delayed >= DELAYED_MAX) return;
    this.#delayed += 1;
    await pause(REFUSAL_MS);
    await this.#ending.enter('all');
    this.#delayed -= 1;
  }
}
