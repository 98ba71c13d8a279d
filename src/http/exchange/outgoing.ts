import { FairQueue } from '../../domain/fair-queue.ts';

/** Of stored files, 64 KiB each: the kernel copies half a MiB in half a millisecond. */
const PIECES_PER_TURN = 8;

/** Bounds the pieces of stored files that are written in one turn of the event loop. Owners take turns. */
export class OutgoingPieces {
  readonly #waiting = new FairQueue<() => void>();
  #begun = 0;
  #isScheduled = false;

  /** Resolves when a piece may be read and written. The limit of downloads bounds the waiting ones. */
  next(owner: string): Promise<void> {
    this.#endLater();
    if (this.#begun >= PIECES_PER_TURN || this.#waiting.size > 0)
      return new Promise((go) => void this.#waiting.push(owner, go));
    this.#begun += 1;
    return Promise.resolve();
  }

  #endLater(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#end());
  }

  #end(): void {
    this.#isScheduled = false;
    this.#begun = Math.min(this.#waiting.size, PIECES_PER_TURN);
    if (this.#begun > 0) this.#endLater();
    for (let count = 0; count < this.#begun; count++) this.#waiting.take()?.();
  }
}
