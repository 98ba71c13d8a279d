/** A time limit that can be stopped while others hold the work back. */
export class Deadline {
  #left: number;
  readonly #onOver: () => void;
  #holds = 0;
  #since = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(milliseconds: number, onOver: () => void) {
    this.#left = milliseconds;
    this.#onOver = onOver;
    this.#start();
  }

  /** Stops the time until each `hold` has its `resume`. */
  hold(): void {
    if (this.#holds++ > 0) return;
    this.#left -= performance.now() - this.#since;
    clearTimeout(this.#timer);
  }

  resume(): void {
    if (--this.#holds === 0) this.#start();
  }

  /** Stops the time for good. */
  end(): void {
    this.#holds = Number.POSITIVE_INFINITY;
    clearTimeout(this.#timer);
  }

  #start(): void {
    this.#since = performance.now();
    this.#timer = setTimeout(this.#onOver, Math.max(0, this.#left));
  }
}

/** How often the time of a processor is looked at. */
const LOOK_INTERVAL_MS = 250;

/** A limit on the time that a process takes of the processors. Waiting costs it nothing. */
export class ProcessorBudget {
  readonly #timer: NodeJS.Timeout | undefined;

  /** @param used processor time that the work has taken until now, in seconds; undefined where that is not known */
  constructor(seconds: number, used: () => number | undefined, onOver: () => void) {
    if (seconds === Number.POSITIVE_INFINITY) return;
    this.#timer = setInterval(() => {
      if ((used() ?? 0) > seconds) onOver();
    }, LOOK_INTERVAL_MS);
  }

  end(): void {
    clearInterval(this.#timer);
  }
}
