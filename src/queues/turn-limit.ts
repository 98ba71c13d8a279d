import { FairQueue } from './fair-queue.ts';

/** Bounds what begins in one turn of the event loop. More waits for later turns, in a fair queue. */
export class TurnLimit {
  readonly #waiting = new FairQueue<() => void>();
  readonly #perTurn: number;
  readonly #pauseMs: () => number;
  #begun = 0;
  #isScheduled = false;

  /** @param pauseMs before the next turn; above 0, nothing begins at once */
  constructor(perTurn: number, pauseMs: () => number = () => 0) {
    this.#perTurn = perTurn;
    this.#pauseMs = pauseMs;
  }

  /** Resolves when the owner may begin. The caller bounds the number of waiting calls. */
  enter(owner: string): Promise<void> {
    const pauseMs = this.#pauseMs();
    const isLater = this.#begun >= this.#perTurn || this.#waiting.size > 0 || pauseMs > 0;
    this.#schedule(pauseMs);
    if (isLater) return new Promise((begin) => void this.#waiting.enter(owner, begin));
    this.#begun += 1;
    return Promise.resolve();
  }

  #schedule(pauseMs: number): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    if (pauseMs > 0) setTimeout(this.#next, pauseMs);
    else setImmediate(this.#next);
  }

  readonly #next = (): void => {
    this.#isScheduled = false;
    this.#begun = Math.min(this.#waiting.size, this.#perTurn);
    if (this.#begun > 0) this.#schedule(this.#pauseMs());
    for (let count = 0; count < this.#begun; count++) this.#waiting.take()?.();
  };
}
