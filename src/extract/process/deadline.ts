/** A time limit that runs only while the one who has it can work: not while it is held back by others. */
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

  /** Stops until as many `goOn` as `hold` were called. */
  hold(): void {
    if (this.#holds++ > 0) return;
    this.#left -= performance.now() - this.#since;
    clearTimeout(this.#timer);
  }

  goOn(): void {
    if (--this.#holds === 0) this.#start();
  }

  /** Never over from now on. */
  end(): void {
    this.#holds = Number.POSITIVE_INFINITY;
    clearTimeout(this.#timer);
  }

  #start(): void {
    this.#since = performance.now();
    this.#timer = setTimeout(this.#onOver, Math.max(0, this.#left));
  }
}
