import { setTimeout as pause } from 'node:timers/promises';
import { FarthingError } from '@farthing/protocol/error';

/** Pauses before the same owner is asked again, increasing each time. A new owner has to open its slot first. */
const AGAIN_MS = 20;
const AGAIN_MS_MAX = 200;
const MOVES_APART_MS = 5;
const RETRY_AFTER_S = 2;

/** One request's waits for slot handovers: it counts from the first wait to the end. Nothing of the request runs while it waits. */
export class HandoverWait {
  readonly #signal: AbortSignal;
  readonly #enter: () => (() => void) | undefined;
  readonly #until: number;
  #leave: (() => void) | undefined;
  #pauses = 0;
  #moves = 0;

  constructor(signal: AbortSignal, enter: () => (() => void) | undefined, waitMsMax: number) {
    this.#signal = signal;
    this.#enter = enter;
    this.#until = performance.now() + waitMsMax;
  }

  /** Waits until a slot has moved. @throws books_unavailable, overloaded, or the client's abort reason */
  async until(moved: Promise<void>): Promise<void> {
    // Yield, so an already resolved promise cannot spin.
    if (this.#moves++ > 0) await pause(MOVES_APART_MS);
    await this.#race(moved, this.#msToWait());
  }

  /** Waits until the slot has moved, or the same owner may be asked again. @throws as `until` */
  async untilAgain(moved: Promise<void>): Promise<void> {
    const ms = Math.min(AGAIN_MS * 2 ** this.#pauses++, AGAIN_MS_MAX, this.#msToWait());
    if (await this.#race(moved, ms)) this.#pauses = 0;
  }

  /** @returns whether the slot has moved */
  async #race(moved: Promise<void>, milliseconds: number): Promise<boolean> {
    const over = new AbortController();
    const signal = AbortSignal.any([this.#signal, over.signal]);
    const late = pause(milliseconds, false, { signal }).catch(() => false);
    const hasMoved = await Promise.race([
      moved.then(
        () => true,
        () => true,
      ),
      late,
    ]);
    over.abort();
    await late;
    this.#signal.throwIfAborted();
    return hasMoved;
  }

  end(): void {
    this.#leave?.();
    this.#leave = undefined;
  }

  /** Enters, and tells how long it may wait. @throws as `until` */
  #msToWait(): number {
    const leftMs = this.#until - performance.now();
    if (leftMs <= 0) throw slotMoves();
    this.#leave ??= this.#enter();
    if (!this.#leave) throw tooManyWait();
    return leftMs;
  }
}

/** Nothing of the request happened. */
export function slotMoves(): FarthingError {
  return new FarthingError(
    'books_unavailable',
    'These books are on their way to another server. Nothing was done. Send the same request again.',
    { retryAfterS: RETRY_AFTER_S },
  );
}

export function tooManyWait(): FarthingError {
  return new FarthingError('overloaded', 'Too many requests wait for other servers. Try again in a moment.');
}
