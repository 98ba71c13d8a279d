import type { HttpResponse } from 'uWebSockets.js';
import { setTimeout } from 'node:timers/promises';
import { native } from '@farthing/native';

/** How long, and how often, what comes behind a last answer is thrown away: a second in all. */
const [LINGER_MS, LINGERS_MAX] = [20, 50];

/**
 * What comes behind a request on its connection while it waits for its answer. Nothing of it is begun: the connection ends with the answer
 * (`native/napi/src/process/pipelining.rs`).
 */
export class Following {
  /** Native code's name for the connection; 0: none. */
  #connection = 0;
  #isFollowed = false;

  /** Another request came, and was dropped. Known once the answer has begun. */
  get isFollowed(): boolean {
    return this.#isFollowed;
  }

  /** Whether the connection may be read: not once a request was dropped. */
  get mayRead(): boolean {
    return this.#connection === 0 || !native.isFollowed(this.#connection);
  }

  /** The request has been read whole. To be called while its last piece is handled. */
  wait(response: HttpResponse): void {
    this.#connection = native.waitsForAnswer(response);
  }

  /** The answer begins, or nobody waits for it any more: to be called once. */
  begin(): void {
    if (this.#connection !== 0) this.#isFollowed = native.beginsAnswer(this.#connection);
  }

  /** Shows the client the end of an answer that was the last. @returns whether more can come */
  endWriting(): boolean {
    return this.#isFollowed && native.throwAwayRest(this.#connection);
  }

  /** Resolves once the client has read that the connection ends, or after a second. */
  async linger(): Promise<void> {
    for (let n = 0; n < LINGERS_MAX && this.endWriting(); n++)
      await setTimeout(LINGER_MS, undefined, { ref: false });
  }
}
