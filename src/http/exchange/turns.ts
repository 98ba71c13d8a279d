import { FairQueue } from '../../domain/fair-queue.ts';

/** uWebSockets.js hands over all requests of one read within one turn of the event loop. */
const REQUESTS_PER_TURN_MAX = 16;
/** Of these, those that waited for their turn. */
const WAITING_PER_TURN_MAX = 8;

/** What a request may do in this turn of the event loop. */
export type Place =
  | 'now'
  /** Now; an answer in this turn ends its connection, behind which uWebSockets.js would go on with the read. */
  | 'last'
  /** In a later turn. */
  | 'later';

/**
 * Bounds the requests that begin in one turn of the event loop, so that pipelined ones keep nobody else waiting. The last
 * request of a full turn ends its connection; the others that came in the same turn wait for the next ones, senders in turn.
 */
export class Turns {
  readonly #waiting = new FairQueue<() => void>();
  #number = 0;
  #begun = 0;
  #ending = false;

  /** Of the turn that runs. */
  get number(): number {
    return this.#number;
  }

  /** A request came: its place in this turn. */
  place(): Place {
    this.#endLater();
    if (this.#begun >= REQUESTS_PER_TURN_MAX) return 'later';
    this.#begun += 1;
    return this.#begun === REQUESTS_PER_TURN_MAX ? 'last' : 'now';
  }

  /** Resolves in the first later turn that has room. @param sender those of one wait for each other; senders take turns */
  next(sender: string): Promise<void> {
    return new Promise((resolve) => void this.#waiting.push(sender, resolve));
  }

  #endLater(): void {
    if (this.#ending) return;
    this.#ending = true;
    setImmediate(() => this.#end());
  }

  #end(): void {
    this.#ending = false;
    this.#number += 1;
    this.#begun = Math.min(this.#waiting.size, WAITING_PER_TURN_MAX);
    if (this.#begun > 0) this.#endLater();
    for (let count = 0; count < this.#begun; count++) this.#waiting.take()?.();
  }
}
