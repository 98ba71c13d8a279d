import { FarthingError } from '@farthing/protocol/error';
import { FairQueue, hasRoom } from '@farthing/queues/fair-queue';

/** The work of one call: entries of one kind, of which a worker takes some at a time. */
export interface Work<Entry> {
  /** Its owner. */
  readonly tenant: string;
  /** Entries of one kind can share a task. */
  readonly kind: string;
  readonly entries: readonly Entry[];
  /** Part of a batch's budget that each entry takes. */
  size(entry: Entry): number;
  /** Cost of each entry for the fair queue, in tokens. */
  cost(entry: Entry): number;
  /** True once it is cancelled. */
  cancelled(): boolean;
}

/** Some entries of one call, processed together with others. */
export interface Piece<Entry> {
  readonly work: Work<Entry>;
  readonly entries: readonly Entry[];
  /** How often it was tried before. */
  readonly attempts: number;
}

export interface BatchBounds {
  readonly entries: number;
  readonly size: number;
}

/** A call, and its first entry that was not taken. */
interface Call<Entry> {
  readonly work: Work<Entry>;
  readonly next: number;
}

/** Tokens that a worker takes of one call at a time. */
const TURN = 512;
/** A sentence or two: a few milliseconds. */
const QUICK = 128;

/**
 * Batches of the calls that wait for a worker, in a fair queue. A worker takes parts of several calls of one kind. A heavy owner delays
 * another by one part at most, and a light one only by parts that have begun.
 */
export class BatchQueue<Entry> {
  readonly #callsMax: number;
  readonly #calls = new FairQueue<Call<Entry>>({
    quickCost: QUICK,
    isCancelled: ({ work }) => work.cancelled(),
  });
  readonly #repeated: Piece<Entry>[] = [];

  /** @param callsMax calls that may wait */
  constructor(callsMax: number) {
    this.#callsMax = callsMax;
  }

  /** Calls that wait, or have entries that wait. */
  get depth(): number {
    return this.#calls.size + this.#repeated.length;
  }

  /** Owners with calls that wait. */
  get owners(): number {
    return this.#calls.owners;
  }

  /** Calls that would be served before another one of an owner, at most. */
  depthBefore(tenant: string): number {
    return this.#calls.waitingBefore(tenant) + this.#repeated.length;
  }

  /**
   * @param tooLong true: what waits would keep another call of the owner waiting for too long
   * @throws FarthingError `overloaded` when the owner has as many calls waiting as there is room for.
   */
  refuseBeyond(tenant: string, what: string, retryAfterS: number, tooLong = false): void {
    if (hasRoom(this.#calls.waitingOf(tenant), this.depth, this.#callsMax) && !tooLong) return;
    throw new FarthingError(
      'overloaded',
      `${this.depth} ${what} are waiting. Nothing was charged: try again later.`,
      { retryAfterS },
    );
  }

  enter(work: Work<Entry>): void {
    const call = { work, next: 0 };
    this.#calls.enter(work.tenant, call, costOf(call));
  }

  /** Puts a piece before everything else. It is taken alone: if it breaks its worker again, it breaks nothing else. */
  enterAgain(piece: Piece<Entry>): void {
    this.#repeated.push({ ...piece, attempts: piece.attempts + 1 });
  }

  /**
   * The next pieces, of one kind and within its bounds; the first entry is never too large. Empty when nothing waits.
   * @param onlyQuick whether only what takes a few milliseconds
   */
  take(boundsOf: (kind: string) => BatchBounds, onlyQuick = false): Piece<Entry>[] {
    for (let piece = onlyQuick ? undefined : this.#repeated.shift(); piece; piece = this.#repeated.shift())
      if (!piece.work.cancelled()) return [piece];
    const pieces: Piece<Entry>[] = [];
    let kind: string | undefined;
    let entries = 0;
    let size = 0;
    const fits = ({ work, next }: Call<Entry>): boolean => {
      if (entries === 0) return true;
      const bounds = boundsOf(work.kind);
      const more = work.size(work.entries[next]!);
      return work.kind === kind && entries < bounds.entries && size + more <= bounds.size;
    };
    for (let call = this.#calls.take(fits, onlyQuick); call; call = this.#calls.take(fits, onlyQuick)) {
      const { work, next } = call;
      kind ??= work.kind;
      let end = next;
      while (end < work.entries.length && fits({ work, next: end })) {
        size += work.size(work.entries[end]!);
        entries += 1;
        end += 1;
      }
      if (end > next) pieces.push({ work, entries: work.entries.slice(next, end), attempts: 0 });
      if (end === work.entries.length) continue;
      const rest = { work, next: end };
      this.#calls.enterAgain(work.tenant, rest, costOf(rest));
    }
    return pieces;
  }

  /** Removes and returns all waiting work, for a queue that closes. */
  drain(): Work<Entry>[] {
    const waiting = [...this.#calls.drain(), ...this.#repeated.splice(0)].map(({ work }) => work);
    return [...new Set(waiting)];
  }
}

/** Cost of the next part of a call, in tokens. */
function costOf<Entry>({ work, next }: Call<Entry>): number {
  let cost = 0;
  for (let at = next; at < work.entries.length && cost < TURN; at++) cost += work.cost(work.entries[at]!);
  return cost;
}
