/** A lock that many changes share, or one work has alone: changes of one slot on behalf of another, and a backup without any. */
export class SharedLock {
  readonly #changes = new Set<Promise<unknown>>();
  #exclusive: Promise<void> | undefined;

  /** Runs a change beside others, once no work wants the lock alone any more. */
  async shared<T>(work: () => Promise<T>): Promise<T> {
    while (this.#exclusive) await this.#exclusive;
    const running = work();
    const ended = running.catch(() => undefined);
    this.#changes.add(ended);
    try {
      return await running;
    } finally {
      this.#changes.delete(ended);
    }
  }

  /** Runs `work` while there is no change: those that run end first, others wait. */
  async exclusive(work: () => Promise<void>): Promise<void> {
    while (this.#exclusive) await this.#exclusive;
    const done = Promise.all(this.#changes).then(work);
    this.#exclusive = done.catch(() => undefined);
    try {
      await done;
    } finally {
      this.#exclusive = undefined;
    }
  }
}
