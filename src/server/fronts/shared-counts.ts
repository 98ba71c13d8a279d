/** Workspaces that fronts may read at a time; more are read by the owner. */
export const SLOTS = 4096;
export const FRONTS_MAX = 16;

/** Of a slot: its generation, searches that run now in all threads, and whether the owner waits until the fronts have left. */
const SLOT_WORDS = 3;
/** Of a slot, for each front: requests inside, and searches that count in the slot's. */
const FRONT_WORDS = 2;
/** Of a front: requests that run, answered by itself, and handed to the owner. */
const TALLY_WORDS = 3;

/** Memory that the owner and the fronts share. Each thread creates its own views. */
export interface SharedMemory {
  readonly fronts: number;
  readonly words: SharedArrayBuffer;
  readonly times: SharedArrayBuffer;
}

export function sharedMemory(fronts: number): SharedMemory {
  const words = SLOTS * SLOT_WORDS + fronts * (SLOTS * FRONT_WORDS + TALLY_WORDS);
  return {
    fronts,
    words: new SharedArrayBuffer(words * Int32Array.BYTES_PER_ELEMENT),
    times: new SharedArrayBuffer((SLOTS + 2) * BigInt64Array.BYTES_PER_ELEMENT),
  };
}

/** Microseconds of a clock that all threads have, and that never goes back. */
export function sharedMicroseconds(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

export interface FrontTally {
  readonly running: number;
  readonly answered: number;
  readonly handedOver: number;
}

/**
 * Counts that all threads share, in words that change atomically. A slot belongs to one workspace at a time. A front is inside a slot while
 * it reads the workspace: it enters, and then looks whether the slot still has the generation that it was told. The owner raises the
 * generation, and then looks who is inside. Both orders are the same for all threads, so that one of the two sees the other.
 */
export class SharedCounts {
  readonly #fronts: number;
  readonly #words: Int32Array;
  readonly #times: BigInt64Array;

  constructor({ fronts, words, times }: SharedMemory) {
    this.#fronts = fronts;
    this.#words = new Int32Array(words);
    this.#times = new BigInt64Array(times);
  }

  generation(slot: number): number {
    return Atomics.load(this.#words, slot);
  }

  /** The owner: nobody enters by the former generation any more. @returns the new one */
  raiseGeneration(slot: number): number {
    return Atomics.add(this.#words, slot, 1) + 1;
  }

  /** @returns whether the front is inside */
  enter(front: number, slot: number, generation: number): boolean {
    Atomics.add(this.#words, this.#inside(front, slot), 1);
    return Atomics.load(this.#words, slot) === generation;
  }

  /** Also after `enter` was refused. @returns whether the owner is to be told that the front has left */
  leave(front: number, slot: number): boolean {
    const isLast = Atomics.sub(this.#words, this.#inside(front, slot), 1) === 1;
    return isLast && Atomics.load(this.#words, this.#waiting(slot)) !== 0;
  }

  /** The owner. @returns the fronts that are inside a slot */
  inside(slot: number): number[] {
    return [...Array(this.#fronts).keys()].filter(
      (front) => Atomics.load(this.#words, this.#inside(front, slot)) > 0,
    );
  }

  /** The owner wants to be told, or not any more. */
  setWaiting(slot: number, waits: boolean): void {
    Atomics.store(this.#words, this.#waiting(slot), Number(waits));
  }

  /** Counts a search, unless so many run. @param front absent: the owner's */
  beginSearch(slot: number, atOnceMax: number, front?: number): boolean {
    if (Atomics.add(this.#words, this.#searches(slot), 1) >= atOnceMax) {
      Atomics.sub(this.#words, this.#searches(slot), 1);
      return false;
    }
    if (front !== undefined) Atomics.add(this.#words, this.#inside(front, slot) + 1, 1);
    return true;
  }

  endSearch(slot: number, front?: number): void {
    Atomics.sub(this.#words, this.#searches(slot), 1);
    if (front !== undefined) Atomics.sub(this.#words, this.#inside(front, slot) + 1, 1);
  }

  searches(slot: number): number {
    return Atomics.load(this.#words, this.#searches(slot));
  }

  /**
   * Counts a request by the generic cell rate algorithm, unless it is too early.
   * @param interval microseconds between requests at the even rate
   * @returns microseconds that it is too early; 0: it is counted
   */
  request(slot: number, interval: number, burst: number): number {
    const now = sharedMicroseconds();
    for (;;) {
      const before = Atomics.load(this.#times, slot);
      const arrival = Math.max(Number(before), now) + interval;
      const tooEarly = arrival - now - burst * interval;
      if (tooEarly > 0) return tooEarly;
      if (Atomics.compareExchange(this.#times, slot, before, BigInt(Math.ceil(arrival))) === before) return 0;
    }
  }

  /** When the admitted requests would have ended, in microseconds from now; below 0: long ago. */
  ahead(slot: number): number {
    return Number(Atomics.load(this.#times, slot)) - sharedMicroseconds();
  }

  /** The owner gives a slot to a workspace, with what it has counted before. */
  begin(slot: number, { ahead, searches }: { readonly ahead: number; readonly searches: number }): void {
    Atomics.store(this.#times, slot, BigInt(Math.ceil(sharedMicroseconds() + ahead)));
    Atomics.store(this.#words, this.#searches(slot), searches);
    this.setWaiting(slot, false);
  }

  /**
   * The owner's clock of rented time. Fronts are up to a millisecond ahead of it: what has just ended for them goes to the owner.
   * @param rentedMs whole milliseconds, now
   * @param aheadMs how far the wall clock is ahead of it
   */
  setClock(rentedMs: number, aheadMs: number): void {
    const now = sharedMicroseconds();
    Atomics.store(this.#times, SLOTS, BigInt(Math.round((rentedMs + 1) * 1000 - now)));
    Atomics.store(this.#times, SLOTS + 1, BigInt(Math.round(aheadMs)));
  }

  /** Whole milliseconds of rented time. */
  rentedMs(): number {
    return Math.floor((Number(Atomics.load(this.#times, SLOTS)) + sharedMicroseconds()) / 1000);
  }

  wallAheadMs(): number {
    return Number(Atomics.load(this.#times, SLOTS + 1));
  }

  tallyRunning(front: number, change: 1 | -1): void {
    Atomics.add(this.#words, this.#tally(front), change);
  }

  tallyAnswered(front: number): void {
    Atomics.add(this.#words, this.#tally(front) + 1, 1);
  }

  tallyHandedOver(front: number): void {
    Atomics.add(this.#words, this.#tally(front) + 2, 1);
  }

  tally(front: number): FrontTally {
    const at = this.#tally(front);
    const word = (number: number) => Atomics.load(this.#words, at + number) >>> 0;
    return { running: word(0), answered: word(1), handedOver: word(2) };
  }

  /** The owner: a front has ended with all that it had. @returns the slots that it was inside */
  forgetFront(front: number): number[] {
    const left: number[] = [];
    for (let slot = 0; slot < SLOTS; slot++) {
      const at = this.#inside(front, slot);
      if (Atomics.exchange(this.#words, at, 0) > 0) left.push(slot);
      Atomics.sub(this.#words, this.#searches(slot), Atomics.exchange(this.#words, at + 1, 0));
    }
    Atomics.store(this.#words, this.#tally(front), 0);
    return left;
  }

  #searches(slot: number): number {
    return SLOTS + slot;
  }

  #waiting(slot: number): number {
    return 2 * SLOTS + slot;
  }

  #inside(front: number, slot: number): number {
    return SLOTS * SLOT_WORDS + front * SLOTS * FRONT_WORDS + slot * FRONT_WORDS;
  }

  #tally(front: number): number {
    return SLOTS * SLOT_WORDS + this.#fronts * SLOTS * FRONT_WORDS + front * TALLY_WORDS;
  }
}
