/** Changes of one slot on behalf of another, and moments without any. */
export class Crossing {
  readonly #running = new Set<Promise<unknown>>();
  #apart: Promise<void> | undefined;

  /** Runs a change, once no such moment is wanted any more. */
  async change<T>(work: () => Promise<T>): Promise<T> {
    while (this.#apart) await this.#apart;
    const running = work();
    const ended = running.catch(() => undefined);
    this.#running.add(ended);
    try {
      return await running;
    } finally {
      this.#running.delete(ended);
    }
  }

  /** Runs `work` while there is no such change: those that run end first, others wait. */
  async apart(work: () => Promise<void>): Promise<void> {
    while (this.#apart) await this.#apart;
    const done = Promise.all(this.#running).then(work);
    this.#apart = done.catch(() => undefined);
    try {
      await done;
    } finally {
      this.#apart = undefined;
    }
  }
}
