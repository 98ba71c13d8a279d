import { setTimeout as pause } from 'node:timers/promises';
import { FairQueue } from '../../domain/fair-queue.ts';

/** Of the time of the event loop. */
const BUSY_SHARE = 0.75;
const LOOK_EVERY_MS = 200;
const REFUSAL_MS = 500;
/** Each holds a connection. */
const DELAYED_MAX = 1024;
/** That begin in one turn of a loop that is not busy: one takes about five milliseconds in all. */
const CALLS_PER_TURN = 4;
/** That begin while it is busy. */
const CALLS_PER_SECOND = 50;

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

  /** Of the last fifths of a second; what lies longer back counts as well where nobody asked. */
  get isBusy(): boolean {
    if (this.#now() - this.#lookedAt < LOOK_EVERY_MS) return this.#isBusy;
    this.#lookedAt = this.#now();
    this.#isBusy = performance.eventLoopUtilization(this.#before).utilization > BUSY_SHARE;
    this.#before = performance.eventLoopUtilization();
    return this.#isBusy;
  }
}

/** Keeps refusals back while the loop is busy: who asks again at once asks less often, and the loop is there for others. */
export class DelayedRefusals {
  readonly #load: Pick<LoopLoad, 'isBusy'>;
  #count = 0;

  constructor(load: Pick<LoopLoad, 'isBusy'>) {
    this.#load = load;
  }

  /** Resolves when an answer may go out: at once, unless it says that there is too much to do. */
  async wait(status: number): Promise<void> {
    if (status !== 429 && status !== 503) return;
    if (!this.#load.isBusy || this.#count >= DELAYED_MAX) return;
    this.#count += 1;
    await pause(REFUSAL_MS);
    this.#count -= 1;
  }
}

/** Begins costly calls at once, a few in each turn of the loop; one after the other while it is busy. Owners take turns. */
export class PacedCalls {
  readonly #load: Pick<LoopLoad, 'isBusy'>;
  readonly #waiting = new FairQueue<() => void>();
  #begun = 0;
  #isScheduled = false;

  constructor(load: Pick<LoopLoad, 'isBusy'>) {
    this.#load = load;
  }

  /** Resolves when the call may begin. What waits is bounded by the caller. */
  begin(owner: string): Promise<void> {
    const isNow = this.#waiting.size === 0 && this.#begun < CALLS_PER_TURN && !this.#load.isBusy;
    const begun = isNow
      ? Promise.resolve()
      : new Promise<void>((resolve) => void this.#waiting.push(owner, resolve));
    if (isNow) this.#begun += 1;
    this.#schedule();
    return begun;
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    if (this.#load.isBusy) setTimeout(this.#next, 1000 / CALLS_PER_SECOND);
    else setImmediate(this.#next);
  }

  readonly #next = (): void => {
    this.#isScheduled = false;
    const count = this.#load.isBusy ? 1 : CALLS_PER_TURN;
    this.#begun = Math.min(count, this.#waiting.size);
    for (let call = 0; call < this.#begun; call++) this.#waiting.take()?.();
    if (this.#begun > 0) this.#schedule();
  };
}
