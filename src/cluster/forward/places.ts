/** Counts what is under way, in all and by sender. */
export class Places {
  readonly #max: number;
  readonly #ofSenderMax: number;
  readonly #bySender = new Map<string, number>();
  #taken = 0;

  /** @param ofSenderMax of one sender, once a quarter of all is taken */
  constructor(max: number, ofSenderMax: number) {
    this.#max = max;
    this.#ofSenderMax = ofSenderMax;
  }

  get taken(): number {
    return this.#taken;
  }

  /**
   * @param senderOf asked only where many are under way: it costs more than the rest
   * @returns to be called at the end; undefined where there is no place
   */
  take(senderOf: () => string): (() => void) | undefined {
    if (this.#taken >= this.#max) return undefined;
    const sender = this.#taken < this.#max / 4 ? undefined : senderOf();
    if (sender !== undefined) {
      const own = this.#bySender.get(sender) ?? 0;
      if (own >= this.#ofSenderMax) return undefined;
      this.#bySender.set(sender, own + 1);
    }
    this.#taken += 1;
    return () => this.#giveBack(sender);
  }

  #giveBack(sender: string | undefined): void {
    this.#taken -= 1;
    if (sender === undefined) return;
    const left = this.#bySender.get(sender)! - 1;
    if (left > 0) this.#bySender.set(sender, left);
    else this.#bySender.delete(sender);
  }
}
