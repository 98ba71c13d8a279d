import { hasRoom } from './fair-queue.ts';

/** Part of all that may be inside before anybody's own are counted. */
const UNCOUNTED = 1 / 4;

/** Bounds what is inside at a time, in all and by owner, and refuses the rest at once. */
export class InFlightLimit {
  readonly #max: number;
  readonly #ownerMax: number | undefined;
  readonly #byOwner = new Map<string, number>();
  #inside = 0;

  /** @param ownerMax of one owner, once a quarter of all are inside. Absent: as many as there is room for (`hasRoom`) */
  constructor(max: number, ownerMax?: number) {
    this.#max = max;
    this.#ownerMax = ownerMax;
  }

  get inside(): number {
    return this.#inside;
  }

  /**
   * @param ownerOf called only where the owner counts
   * @returns leaves; undefined where it is refused
   */
  enter(ownerOf: () => string): (() => void) | undefined {
    if (this.#inside >= this.#max) return undefined;
    const isCounted = this.#ownerMax === undefined || this.#inside >= UNCOUNTED * this.#max;
    const owner = isCounted ? ownerOf() : undefined;
    if (owner !== undefined) {
      const own = this.#byOwner.get(owner) ?? 0;
      const hasOwnRoom =
        this.#ownerMax === undefined ? hasRoom(own, this.#inside, this.#max) : own < this.#ownerMax;
      if (!hasOwnRoom) return undefined;
      this.#byOwner.set(owner, own + 1);
    }
    this.#inside += 1;
    return () => this.#leave(owner);
  }

  #leave(owner: string | undefined): void {
    this.#inside -= 1;
    if (owner === undefined) return;
    const remaining = this.#byOwner.get(owner)! - 1;
    if (remaining > 0) this.#byOwner.set(owner, remaining);
    else this.#byOwner.delete(owner);
  }
}
