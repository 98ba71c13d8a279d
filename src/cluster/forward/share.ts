/** Counts what is under way, in all and by sender. */
export class Share {
  readonly #max: number;
  readonly #ofSenderMax: number;
  readonly #bySender = new Map<string, number>();
  #count = 0;

  /** @param max at once @param ofSenderMax of one sender, once there is a quarter of all */
  constructor(max: number, ofSenderMax: number) {
    this.#max = max;
    this.#ofSenderMax = ofSenderMax;
  }

  get count(): number {
    return this.#count;
  }

  /**
   * @param senderOf asked only where many are under way: it costs more than the rest
   * @returns to be called at the end; undefined where there is no room
   */
  enter(senderOf: () => string): (() => void) | undefined {
    if (this.#count >= this.#max) return undefined;
    const sender = this.#count < this.#max / 4 ? undefined : senderOf();
    if (sender !== undefined) {
      const count = this.#bySender.get(sender) ?? 0;
      if (count >= this.#ofSenderMax) return undefined;
      this.#bySender.set(sender, count + 1);
    }
    this.#count += 1;
    return () => this.#leave(sender);
  }

  #leave(sender: string | undefined): void {
    this.#count -= 1;
    if (sender === undefined) return;
    const left = this.#bySender.get(sender)! - 1;
    if (left > 0) this.#bySender.set(sender, left);
    else this.#bySender.delete(sender);
  }
}
