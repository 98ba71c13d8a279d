/** Longest that one piece takes, in milliseconds, when the turn has no other work. */
const PIECE_MS = 2;

/**
 * Spreads pieces of work over turns of the event loop. The vectors of a batch arrive together; scanning for all of its
 * searches in a row would hold up every other request. Each turn takes one piece, or as many as fit into the time that the
 * turn's other work took: otherwise encoded searches would wait behind all later requests.
 */
export class LoopYields {
  readonly #waiting: (() => void)[] = [];
  readonly #now: () => number;
  #taken = false;
  #turnBegan = 0;

  /** @param now milliseconds of a monotonic clock */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Resolves at once if this turn has taken no piece yet, otherwise in a later turn, in order. */
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
    // Promises that resolve together continue together, before the next turn begins.
    for (const resolve of resolves) resolve();
    setImmediate(this.#turn);
  };
}
