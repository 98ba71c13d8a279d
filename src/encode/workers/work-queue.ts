import { FarthingError } from '../../domain/error.ts';

/** The work of one call: entries of one kind, of which a worker takes some at a time. */
export interface Work<Entry> {
  readonly tenant: string;
  /** Entries of one kind may share a task. */
  readonly kind: string;
  readonly entries: readonly Entry[];
  /** Cost of each entry, in the unit of a pull's budget. */
  cost(entry: Entry): number;
  /** True once it is cancelled. */
  cancelled(): boolean;
  /** Called once if it was cancelled while it waited. */
  onSkipped(): void;
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

/**
 * A bounded queue that serves Tenants in turn. Each pull continues with the Tenant after the last one, so that a heavy Tenant
 * delays another by one turn at most. Cancelled work is dropped when its turn comes.
 */
export class FairQueue<Entry> {
  readonly #most: number;
  readonly #tenants = new Map<string, { work: Work<Entry>; next: number }[]>();
  readonly #repeated: Piece<Entry>[] = [];
  #calls = 0;

  /** @param most maximum of waiting calls */
  constructor(most: number) {
    this.#most = most;
  }

  /** Number of calls with waiting entries. */
  get depth(): number {
    return this.#calls + this.#repeated.length;
  }

  /**
   * @param tooLong another call would wait too long
   * @throws FarthingError `overloaded` when another call could not be queued now
   */
  admit(what: string, retryAfterS: number, tooLong = false): void {
    if (this.depth < this.#most && !tooLong) return;
    throw new FarthingError(
      'overloaded',
      `${this.depth} ${what} are waiting. Nothing was charged: try again later.`,
      { retryAfterS },
    );
  }

  add(work: Work<Entry>): void {
    const waiting = this.#tenants.get(work.tenant);
    if (waiting) waiting.push({ work, next: 0 });
    else this.#tenants.set(work.tenant, [{ work, next: 0 }]);
    this.#calls += 1;
  }

  /** Puts a piece before all others. It is pulled alone, so that an entry that breaks its worker fails no other. */
  repeat(piece: Piece<Entry>): void {
    this.#repeated.push({ ...piece, attempts: piece.attempts + 1 });
  }

  /** The next pieces of one kind within the bounds; the first entry always fits. Empty when nothing waits. */
  pull(boundsOf: (kind: string) => PullBounds): Piece<Entry>[] {
    for (let piece = this.#repeated.shift(); piece; piece = this.#repeated.shift()) {
      if (!piece.work.cancelled()) return [piece];
      piece.work.onSkipped();
    }
    const pieces: Piece<Entry>[] = [];
    let kind: string | undefined;
    let entries = 0;
    let cost = 0;
    // One turn for each Tenant, then again while the bounds allow more.
    for (let passed = 0; passed < this.#tenants.size; ) {
      const [tenant, waiting] = this.#tenants.entries().next().value!;
      const head = this.#head(tenant, waiting);
      if (!head) continue;
      this.#toTheEnd(tenant, waiting);
      const { work } = head;
      if (kind !== undefined && work.kind !== kind) {
        passed += 1;
        continue;
      }
      kind = work.kind;
      const bounds = boundsOf(kind);
      const start = head.next;
      while (head.next < work.entries.length) {
        const price = work.cost(work.entries[head.next]!);
        if (entries > 0 && (entries >= bounds.entries || cost + price > bounds.cost)) break;
        entries += 1;
        cost += price;
        head.next += 1;
      }
      if (head.next > start)
        pieces.push({ work, entries: work.entries.slice(start, head.next), attempts: 0 });
      this.#head(tenant, waiting);
      if (head.next < work.entries.length || entries >= bounds.entries || cost >= bounds.cost) break;
      passed = 0;
    }
    return pieces;
  }

  /** Removes and returns all waiting work, for a queue that closes. */
  drain(): Work<Entry>[] {
    const left = [...this.#tenants.values()].flat().map(({ work }) => work);
    for (const { work } of this.#repeated) left.push(work);
    this.#tenants.clear();
    this.#repeated.length = 0;
    this.#calls = 0;
    return [...new Set(left)];
  }

  /** A Tenant's first call with entries left that is not cancelled; a Tenant without one is removed. */
  #head(
    tenant: string,
    waiting: { work: Work<Entry>; next: number }[],
  ): { work: Work<Entry>; next: number } | undefined {
    for (let head = waiting[0]; head; head = waiting[0]) {
      const cancelled = head.work.cancelled();
      if (!cancelled && head.next < head.work.entries.length) return head;
      waiting.shift();
      this.#calls -= 1;
      if (cancelled) head.work.onSkipped();
    }
    this.#tenants.delete(tenant);
    return undefined;
  }

  #toTheEnd(tenant: string, waiting: { work: Work<Entry>; next: number }[]): void {
    this.#tenants.delete(tenant);
    this.#tenants.set(tenant, waiting);
  }
}
