/** What one piece takes at most of a turn that does nothing else. */
const PIECE_MS = 2;

/**
 * Pieces of work, spread over turns of the event loop: a batch's vectors all come at once, and all of their searches scanned in a
 * row would keep every other request waiting. One piece a turn; more where the other work of a turn takes long, up to as
 * much time as that: otherwise what has been encoded would wait for all that comes in after it.
 */
export class LoopYields {
  readonly #waiting: (() => void)[] = [];
  readonly #now: () => number;
  #taken = false;
  #turnBegan = 0;

  /** @param now milliseconds of a clock that never goes back */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Resolves at once when nobody else has had this turn, otherwise in a later one, in order. */
  take(): Promise<void> {
    if (this.#taken) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#taken = true;
    this.#turnBegan = this.#now();
    setImmediate(this.#turn);
    return Promise.resolve();
  }

  readonly #turn = (): void => {
    const now = this.#now();
    const pieces = Math.max(1, Math.floor((now - this.#turnBegan) / (2 * PIECE_MS)));
    this.#turnBegan = now;
    if (this.#waiting.length === 0) {
      this.#taken = false;
      return;
    }
    const resolves = this.#waiting.splice(0, pieces);
    // Promises resolved in a row run in a row: all of them before the next turn begins.
    for (const resolve of resolves) resolve();
    setImmediate(this.#turn);
  };
}
