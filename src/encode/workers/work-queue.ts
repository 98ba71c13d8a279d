import { FarthingError } from '../../domain/error.ts';
import { FairQueue, hasRoom } from '../../domain/sharing/fair-queue.ts';

/** The work of one call: entries of one kind, of which a worker takes some at a time. */
export interface Work<Entry> {
  /** Its owner. */
  readonly tenant: string;
  /** Entries of one kind can share a task. */
  readonly kind: string;
  readonly entries: readonly Entry[];
  /** Cost of each entry, in the unit of a pull's budget. */
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

export interface PullBounds {
  readonly entries: number;
  readonly cost: number;
}

/** A call, and its first entry that was not pulled. */
interface Call<Entry> {
  readonly work: Work<Entry>;
  readonly next: number;
}

/**
 * Work that waits for a worker, bounded, with the owners served in turn: a heavy one delays another by one turn at most, and leaves
 * room for its first call.
 * Cancelled work is dropped when its turn comes.
 */
export class WorkQueue<Entry> {
  readonly #callsMax: number;
  readonly #calls = new FairQueue<Call<Entry>>({ isCancelled: ({ work }) => work.cancelled() });
  readonly #repeated: Piece<Entry>[] = [];

  /** @param callsMax calls that may wait */
  constructor(callsMax: number) {
    this.#callsMax = callsMax;
  }

  /** Calls that wait, or have entries that wait. */
  get depth(): number {
    return this.#calls.size + this.#repeated.length;
  }

  /** Calls that would be served before another one of an owner, at most. */
  depthBefore(tenant: string): number {
    return this.#calls.waitingBefore(tenant) + this.#repeated.length;
  }

  /**
   * @param tooLong true: what waits would keep another call of the owner waiting for too long
   * @throws FarthingError `overloaded` when the owner has as many calls waiting as there is room for.
   */
  admit(tenant: string, what: string, retryAfterS: number, tooLong = false): void {
    if (hasRoom(this.#calls.waitingOf(tenant), this.depth, this.#callsMax) && !tooLong) return;
    throw new FarthingError(
      'overloaded',
      `${this.depth} ${what} are waiting. Nothing was charged: try again later.`,
      { retryAfterS },
    );
  }

  add(work: Work<Entry>): void {
    this.#calls.push(work.tenant, { work, next: 0 });
  }

  /** Puts a piece before everything else. It is pulled alone: if it breaks its worker again, it breaks nothing else. */
  repeat(piece: Piece<Entry>): void {
    this.#repeated.push({ ...piece, attempts: piece.attempts + 1 });
  }

  /** The next pieces, of one kind and within its bounds; the first entry is never too large. Empty when nothing waits. */
  pull(boundsOf: (kind: string) => PullBounds): Piece<Entry>[] {
    for (let piece = this.#repeated.shift(); piece; piece = this.#repeated.shift())
      if (!piece.work.cancelled()) return [piece];
    const pieces: Piece<Entry>[] = [];
    let kind: string | undefined;
    let entries = 0;
    let cost = 0;
    const fits = ({ work, next }: Call<Entry>): boolean => {
      if (entries === 0) return true;
      const bounds = boundsOf(work.kind);
      const price = work.cost(work.entries[next]!);
      return work.kind === kind && entries < bounds.entries && cost + price <= bounds.cost;
    };
    for (let call = this.#calls.take(fits); call; call = this.#calls.take(fits)) {
      const { work, next } = call;
      kind ??= work.kind;
      let end = next;
      while (end < work.entries.length && fits({ work, next: end })) {
        cost += work.cost(work.entries[end]!);
        entries += 1;
        end += 1;
      }
      if (end > next) pieces.push({ work, entries: work.entries.slice(next, end), attempts: 0 });
      if (end < work.entries.length) this.#calls.putBack(work.tenant, { work, next: end });
    }
    return pieces;
  }

  /** Removes and returns all waiting work, for a queue that closes. */
  drain(): Work<Entry>[] {
    const waiting = [...this.#calls.drain(), ...this.#repeated.splice(0)].map(({ work }) => work);
    return [...new Set(waiting)];
  }
}
