/**
 * One piece of work for each turn of the event loop: a batch's vectors all come at once, and all of their searches scanned in
 * a row would keep every other request waiting.
 */
export class LoopTurns {
  readonly #waiting: (() => void)[] = [];
  #taken = false;

  /** Resolves at once when nobody else has had this turn, otherwise in a later one, in order. */
  take(): Promise<void> {
    if (this.#taken) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#taken = true;
    setImmediate(this.#next);
    return Promise.resolve();
  }

  readonly #next = (): void => {
    const resolve = this.#waiting.shift();
    if (!resolve) {
      this.#taken = false;
      return;
    }
    setImmediate(this.#next);
    resolve();
  };
}
