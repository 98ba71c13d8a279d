export interface FairQueueOptions<Entry> {
  /** Entries that may wait at a time. */
  readonly waitingMax?: number;
  /** Entries of one Tenant that may wait at a time. */
  readonly tenantWaitingMax?: number;
  /** Entries of one Tenant that may be out at a time, each from `take` to `done`. */
  readonly tenantTakenMax?: number;
  /** True for a cancelled entry. It is dropped when its turn comes, and costs its Tenant no turn. */
  readonly isCancelled?: (entry: Entry) => boolean;
}

/**
 * A queue that serves Tenants in turn: each gets one entry, then goes to the end of the line, however many entries it
 * has waiting. Entries of one Tenant stay in order. A bound that is absent is infinite.
 */
export class FairQueue<Entry extends object> {
  /** Waiting entries by Tenant, in the order of the Tenants’ turns; no list is empty. */
  readonly #waiting = new Map<string, Entry[]>();
  /** How many entries of each Tenant are out. Counted only where that is bounded. */
  readonly #taken = new Map<string, number>();
  readonly #options: FairQueueOptions<Entry>;
  #size = 0;

  constructor(options: FairQueueOptions<Entry> = {}) {
    this.#options = options;
  }

  /** Entries that wait. */
  get size(): number {
    return this.#size;
  }

  /** @returns false, and adds nothing, when the queue is full or the Tenant has too many entries waiting. */
  push(tenant: string, entry: Entry): boolean {
    const { waitingMax = Number.POSITIVE_INFINITY, tenantWaitingMax = Number.POSITIVE_INFINITY } =
      this.#options;
    const waiting = this.#waiting.get(tenant);
    if (this.#size >= waitingMax || (waiting?.length ?? 0) >= tenantWaitingMax) return false;
    if (waiting) waiting.push(entry);
    else this.#waiting.set(tenant, [entry]);
    this.#size++;
    return true;
  }

  /** Makes an entry its Tenant's first again: the rest of one that was taken in part. It counts against no bound. */
  putBack(tenant: string, entry: Entry): void {
    const waiting = this.#waiting.get(tenant);
    if (waiting) waiting.unshift(entry);
    else this.#waiting.set(tenant, [entry]);
    this.#size++;
  }

  /**
   * The first entry of the next Tenant. A Tenant whose first entry does not suit, or which has too many entries out, is
   * passed over and keeps its turn.
   */
  take(suits: (entry: Entry) => boolean = () => true): Entry | undefined {
    const { tenantTakenMax = Number.POSITIVE_INFINITY } = this.#options;
    for (const [tenant, waiting] of this.#waiting) {
      const taken = this.#taken.get(tenant) ?? 0;
      if (taken >= tenantTakenMax) continue;
      this.#dropCancelled(tenant, waiting);
      const entry = waiting[0];
      if (!entry || !suits(entry)) continue;
      waiting.shift();
      this.#size--;
      this.#waiting.delete(tenant);
      if (waiting.length > 0) this.#waiting.set(tenant, waiting);
      if (tenantTakenMax < Number.POSITIVE_INFINITY) this.#taken.set(tenant, taken + 1);
      return entry;
    }
    return undefined;
  }

  /** An entry of the Tenant that was taken is finished. */
  done(tenant: string): void {
    const taken = (this.#taken.get(tenant) ?? 0) - 1;
    if (taken > 0) this.#taken.set(tenant, taken);
    else this.#taken.delete(tenant);
  }

  /** Takes an entry out before its turn. @returns false when it is not waiting. */
  remove(tenant: string, entry: Entry): boolean {
    const waiting = this.#waiting.get(tenant) ?? [];
    const index = waiting.indexOf(entry);
    if (index < 0) return false;
    waiting.splice(index, 1);
    if (waiting.length === 0) this.#waiting.delete(tenant);
    this.#size--;
    return true;
  }

  /** Takes out all entries that wait. */
  drain(): Entry[] {
    const entries = [...this.#waiting.values()].flat();
    this.#waiting.clear();
    this.#size = 0;
    return entries;
  }

  /** Drops what was cancelled before the Tenant's first entry that was not. */
  #dropCancelled(tenant: string, waiting: Entry[]): void {
    while (waiting[0] && this.#options.isCancelled?.(waiting[0])) {
      waiting.shift();
      this.#size--;
    }
    if (waiting.length === 0) this.#waiting.delete(tenant);
  }
}
