import { availableParallelism } from 'node:os';
import { FarthingError } from '@farthing/protocol/error';
import { FairQueue } from '@farthing/queues/fair-queue';

/** Searches that run at once: as many as the index has threads for long ones. */
const RUNNING_MAX = Math.min(4, availableParallelism());
/** Searches that may wait; more are refused. */
const WAITING_MAX = 1024;

/**
 * Searches that do not run on an encoder's thread: words alone, pictures, or vectors of ONNX Runtime. Owners take turns: one's many
 * searches with a thousand hits delay another's by one of them.
 */
export class ScanQueue {
  readonly #waiting = new FairQueue<() => void>({ waitingMax: WAITING_MAX });
  #running = 0;
  /** Whether one has run in this turn of the event loop. */
  #turnTaken = false;

  /**
   * @param search called with whether it is alone and may hold up the event loop for a short time
   * @throws overloaded when too many wait
   */
  async run<T>(owner: string, search: (alone: boolean) => Promise<T>): Promise<T> {
    if (this.#running >= RUNNING_MAX) await this.#turn(owner);
    const alone = this.#running === 0 && !this.#turnTaken;
    if (alone) this.#takeTurn();
    this.#running += 1;
    try {
      return await search(alone);
    } finally {
      this.#running -= 1;
      this.#waiting.take()?.();
    }
  }

  #turn(owner: string): Promise<void> {
    return new Promise((resolve) => {
      if (!this.#waiting.push(owner, resolve))
        throw new FarthingError('overloaded', 'Too many searches are waiting. Try again.', {
          retryAfterS: 1,
        });
    });
  }

  #takeTurn(): void {
    this.#turnTaken = true;
    setImmediate(() => {
      this.#turnTaken = false;
    });
  }
}
