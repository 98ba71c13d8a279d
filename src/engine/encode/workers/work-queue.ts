import { FarthingError } from '@farthing/protocol/error';
import { FairQueue, hasRoom } from '@farthing/queues/fair-queue';

/** The work of one call: entries of one kind, of which a worker takes some at a time. */
export interface Work<Entry> {
  /** Its owner. */
  readonly tenant: string;
  /** Entries of one kind can share a task. */
  readonly kind: string;
  readonly entries: readonly Entry[];
  /** Cost of each entry, in the unit of a pull's budget. */
  cost(entry: Entry): number;
  /** Work of each entry, by which owners take turns: as that of so many tokens. */
  weight(entry: Entry): number;
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

/** Tokens of a turn: what a worker takes of one call at a time. */
const TURN = 512;
/** A sentence or two: a few milliseconds. */
const QUICK = 128;

/**
 * Work that waits for a worker, bounded, with the owners served in turn, the one with the least work first: a heavy one delays another
 * by one turn at most, a light one by none that has not begun, and leaves room for its first call.
 * Cancelled work is dropped when its turn comes.
 */
export class WorkQueue<Entry> {
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
  admit(tenant: string, what: string, retryAfterS: number, tooLong = false): void {
    if (hasRoom(this.#calls.waitingOf(tenant), this.depth, this.#callsMax) && !tooLong) return;
    throw new FarthingError(
      'overloaded',
      `${this.depth} ${what} are waiting. Nothing was charged: try again later.`,
      { retryAfterS },
    );
  }

  add(work: Work<Entry>): void {
    const call = { work, next: 0 };
    this.#calls.push(work.tenant, call, turnOf(call));
  }

  /** Puts a piece before everything else. It is pulled alone: if it breaks its worker again, it breaks nothing else. */
  repeat(piece: Piece<Entry>): void {
    this.#repeated.push({ ...piece, attempts: piece.attempts + 1 });
  }

  /**
   * The next pieces, of one kind and within its bounds; the first entry is never too large. Empty when nothing waits.
   * @param onlyQuick whether only what takes a few milliseconds
   */
  pull(boundsOf: (kind: string) => PullBounds, onlyQuick = false): Piece<Entry>[] {
    for (let piece = onlyQuick ? undefined : this.#repeated.shift(); piece; piece = this.#repeated.shift())
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
    const take = () => this.#calls.take(fits, onlyQuick);
    for (let call = take(); call; call = take()) {
      const { work, next } = call;
      kind ??= work.kind;
      let end = next;
      while (end < work.entries.length && fits({ work, next: end })) {
        cost += work.cost(work.entries[end]!);
        entries += 1;
        end += 1;
      }
      if (end > next) pieces.push({ work, entries: work.entries.slice(next, end), attempts: 0 });
      if (end === work.entries.length) continue;
      const rest = { work, next: end };
      this.#calls.putBack(work.tenant, rest, turnOf(rest));
    }
    return pieces;
  }

  /** Removes and returns all waiting work, for a queue that closes. */
  drain(): Work<Entry>[] {
    const waiting = [...this.#calls.drain(), ...this.#repeated.splice(0)].map(({ work }) => work);
    return [...new Set(waiting)];
  }
}

/** Work of the next turn of a call, in tokens. */
function turnOf<Entry>({ work, next }: Call<Entry>): number {
  let weight = 0;
  for (let at = next; at < work.entries.length && weight < TURN; at++)
    weight += work.weight(work.entries[at]!);
  return weight;
}
