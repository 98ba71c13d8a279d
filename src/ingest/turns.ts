/** A queue for many Tenants: each has its turn, however much another has waiting. In order for each of them. */
export class TurnQueue<T> {
  /** In the order of their turns; a Tenant without anything waiting is absent. */
  readonly #waiting = new Map<string, T[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(tenant: string, entry: T): void {
    const own = this.#waiting.get(tenant);
    if (own) own.push(entry);
    else this.#waiting.set(tenant, [entry]);
    this.#size++;
  }

  /** The next entry; its Tenant goes to the end of the line. */
  take(): T | undefined {
    for (const [tenant, own] of this.#waiting) {
      this.#waiting.delete(tenant);
      const entry = own.shift();
      if (own.length > 0) this.#waiting.set(tenant, own);
      this.#size--;
      return entry;
    }
    return undefined;
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
