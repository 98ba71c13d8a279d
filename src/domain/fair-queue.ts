/**
 * A queue for many Tenants: each has its turn, however much another has waiting, and none has more than so many entries taken at a time,
 * however long they last. In order for each of them.
 */
export class TurnQueue<T> {
  /** In the order of their turns; a Tenant without anything waiting is absent. */
  readonly #waiting = new Map<string, T[]>();
  /** Entries of each Tenant that were taken and are not done. */
  readonly #taken = new Map<string, number>();
  readonly #takenMax: number;
  #size = 0;

  constructor(takenMax: number) {
    this.#takenMax = takenMax;
  }

  get size(): number {
    return this.#size;
  }

  push(tenant: string, entry: T): void {
    const own = this.#waiting.get(tenant);
    if (own) own.push(entry);
    else this.#waiting.set(tenant, [entry]);
    this.#size++;
  }

  /** The next entry, which its Tenant holds until `done`; the Tenant goes to the end of the line. */
  take(): T | undefined {
    for (const [tenant, own] of this.#waiting) {
      const taken = this.#taken.get(tenant) ?? 0;
      if (taken >= this.#takenMax) continue;
      this.#taken.set(tenant, taken + 1);
      this.#waiting.delete(tenant);
      const entry = own.shift();
      if (own.length > 0) this.#waiting.set(tenant, own);
      this.#size--;
      return entry;
    }
    return undefined;
  }

  /** What was taken of the Tenant is done: it may have another one. */
  done(tenant: string): void {
    const taken = (this.#taken.get(tenant) ?? 0) - 1;
    if (taken > 0) this.#taken.set(tenant, taken);
    else this.#taken.delete(tenant);
  }

  /** Takes an entry out before its turn. @returns false when it is not waiting. */
  remove(tenant: string, entry: T): boolean {
    const own = this.#waiting.get(tenant) ?? [];
    const index = own.indexOf(entry);
    if (index < 0) return false;
    own.splice(index, 1);
    if (own.length === 0) this.#waiting.delete(tenant);
    this.#size--;
    return true;
  }
}
