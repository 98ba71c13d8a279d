/** Before anything was measured: one query of a small model on a slow processor. */
const FIRST_GUESS_MS = 10;
/** Queries that the pace remembers, about. */
const MEMORY = 64;

/**
 * How fast queries are answered by all workers together: milliseconds of the time in which any of them had some, for each query.
 * By what one worker takes, and how many there are, it could not be told: they share processors, with each other and with more.
 */
export class QueryPace {
  #ms = FIRST_GUESS_MS * MEMORY;
  #queries = MEMORY;
  #running = 0;
  #countedTo = 0;

  get milliseconds(): number {
    return this.#ms / this.#queries;
  }

  /** A task begins. @returns what to call at its end, with the number of queries that it answered */
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
