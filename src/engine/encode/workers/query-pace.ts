/** Assumed before anything is measured: one query of a small model on a slow processor. */
const FIRST_GUESS_MS = 10;
/** Number of recent queries that the pace reflects, about. */
const MEMORY = 64;

/**
 * How fast all workers together answer queries: milliseconds for each query, of the time in which any of them was busy. It
 * cannot be derived from one worker's time, because workers share processors with each other and with other threads.
 */
export class QueryPace {
  #ms = FIRST_GUESS_MS * MEMORY;
  #queries = MEMORY;
  #running = 0;
  #countedTo = 0;

  get milliseconds(): number {
    return this.#ms / this.#queries;
  }

  /** Records that a task begins. @returns a function to call at its end with the number of answered queries */
  begin(now: number): (now: number, queries: number) => void {
    if (this.#running === 0) this.#countedTo = now;
    this.#running += 1;
    return (ended, queries) => {
      this.#running -= 1;
      const kept = (1 - 1 / MEMORY) ** queries;
      this.#ms = this.#ms * kept + (ended - this.#countedTo);
      this.#queries = this.#queries * kept + queries;
      this.#countedTo = ended;
    };
  }
}
