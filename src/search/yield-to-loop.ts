import { FairQueue } from '../domain/fair-queue.ts';

/** One piece takes at least this long, in milliseconds, for what is planned. With a thousand hits it takes ten times as long. */
const PIECE_MS_MIN = 2;

/**
 * Spreads pieces of work over turns of the event loop. The vectors of a batch arrive together; scanning for all of its
 * searches in a row would hold up every other request. Each turn takes one piece, or as many as fit into half of the time that the
 * turn's other work took: otherwise encoded searches would wait behind all later requests. Tenants take turns: one's many searches with a
 * thousand hits delay another's by one of them.
 */
export class LoopYields {
  readonly #waiting = new FairQueue<() => void>();
  readonly #now: () => number;
  #taken = false;
  #pieces = 0;
  /** What the last ones took, about. */
  #pieceMs = PIECE_MS_MIN;
  /** When a turn's pieces began, and ended. */
  #beganAt = 0;
  #endedAt = 0;

  /** @param now milliseconds of a monotonic clock */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Resolves at once if this turn has taken no piece yet, otherwise in a later turn. */
  take(tenant: string): Promise<void> {
    if (this.#taken) return new Promise((resolve) => void this.#waiting.push(tenant, resolve));
    this.#taken = true;
    this.#pieces = 1;
    this.#endedAt = this.#now();
    this.#prepareTurn();
    return Promise.resolve();
  }

  /** Nothing but the pieces runs between the two. */
  #prepareTurn(): void {
    setImmediate(this.#begin);
    setImmediate(this.#end);
  }

  readonly #begin = (): void => {
    this.#beganAt = this.#now();
    const fitting = Math.floor((this.#beganAt - this.#endedAt) / (2 * this.#pieceMs));
    // Twice as many as before at most: nothing is known of those that have just come.
    this.#pieces = Math.min(this.#waiting.size, Math.max(1, Math.min(fitting, 2 * this.#pieces)));
    // Promises that resolve together continue together, before the next callback.
    for (let piece = 0; piece < this.#pieces; piece++) this.#waiting.take()?.();
  };

  readonly #end = (): void => {
    this.#endedAt = this.#now();
    if (this.#pieces === 0) {
      this.#taken = false;
      return;
    }
    const took = (this.#endedAt - this.#beganAt) / this.#pieces;
    this.#pieceMs = Math.max(PIECE_MS_MIN, (this.#pieceMs + took) / 2);
    this.#prepareTurn();
  };
}
