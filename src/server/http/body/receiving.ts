import { setImmediate as nextTurn } from 'node:timers/promises';
import { FairQueue } from '@farthing/queues/fair-queue';
import type { RequestBody } from './body.ts';

/**
 * Bytes copied in one turn of the event loop. One more read of 480 KiB may be under way. A MiB takes a millisecond or two, and as long
 * again where it is hashed for a file.
 */
const BYTES_PER_TURN = 2 ** 20;
/** Held bodies that are resumed in one turn. */
const RELEASED_PER_TURN = 4;
const GIVEN_UP_PER_TURN = 4;

/**
 * Bodies being received. A bounded number of bytes is taken in each turn of the event loop; bodies with more to come wait for later
 * turns, fairly among owners.
 */
export class Receiving {
  readonly #bodies = new Set<RequestBody>();
  readonly #held = new FairQueue<RequestBody>({ isCancelled: ({ failure }) => failure !== undefined });
  #bytes = 0;
  #endsLater = false;

  add(body: RequestBody): void {
    this.#bodies.add(body);
  }

  delete(body: RequestBody): void {
    this.#bodies.delete(body);
  }

  /** Bytes of a body came in this turn. */
  took(body: RequestBody, bytes: number): void {
    const wasFull = this.#bytes >= BYTES_PER_TURN;
    this.#bytes += bytes;
    this.#endLater();
    if (wasFull) this.#hold(body);
    else if (this.#bytes >= BYTES_PER_TURN) for (const each of this.#bodies) this.#hold(each);
  }

  /** Ends what `isOver`, a few in each turn: each has an error and an answer. */
  async giveUp(isOver: (body: RequestBody) => boolean, fault: () => Error): Promise<void> {
    let count = 0;
    for (const body of [...this.#bodies].filter(isOver)) {
      // It may have ended by itself between turns.
      if (body.complete || body.failure) continue;
      body.fail(fault());
      if (++count % GIVEN_UP_PER_TURN === 0) await nextTurn();
    }
  }

  #hold(body: RequestBody): void {
    if (body.hold()) this.#held.enter(body.sender, body);
  }

  #endLater(): void {
    if (this.#endsLater) return;
    this.#endsLater = true;
    setImmediate(() => this.#end());
  }

  #end(): void {
    this.#endsLater = false;
    this.#bytes = 0;
    for (let count = 0; count < RELEASED_PER_TURN; count++) this.#held.take()?.release();
    if (this.#held.size > 0) this.#endLater();
  }
}
