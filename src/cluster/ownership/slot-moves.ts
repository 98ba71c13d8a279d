/** Tells those that wait for slots when these are elsewhere. */
export class SlotMoves {
  readonly #placeOf: (slot: number) => string;
  readonly #awaited = new Map<
    number,
    { readonly place: string; readonly moved: PromiseWithResolvers<void> }
  >();

  /** @param placeOf location of a slot: any text that differs for each location */
  constructor(placeOf: (slot: number) => string) {
    this.#placeOf = placeOf;
  }

  /** Resolves once a slot is elsewhere than now. */
  moved(slot: number): Promise<void> {
    const awaited = this.#awaited.get(slot) ?? {
      place: this.#placeOf(slot),
      moved: Promise.withResolvers<void>(),
    };
    this.#awaited.set(slot, awaited);
    return awaited.moved.promise;
  }

  /** To be called whenever slots may have moved. */
  look(): void {
    for (const [slot, { place, moved }] of this.#awaited) {
      if (this.#placeOf(slot) === place) continue;
      this.#awaited.delete(slot);
      moved.resolve();
    }
  }
}
