/** Seconds of work before which nothing is said of the rest: a first guess is no estimate. */
const SECONDS_MIN = 0.5;
const SHARE_MIN = 0.02;

interface Started {
  readonly at: number;
}

/** How fast running jobs go. */
export class Pace {
  readonly #started = new Map<string, Started>();
  readonly #now: () => number;

  /** @param now milliseconds from any origin, never going back */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  begin(id: string): void {
    this.#started.set(id, { at: this.#now() });
  }

  end(id: string): void {
    this.#started.delete(id);
  }

  /** Whole seconds until the end if the rest goes as fast as what is done; undefined while that is too little. */
  secondsLeft(id: string, share: number): number | undefined {
    const started = this.#started.get(id);
    if (!started || share < SHARE_MIN) return undefined;
    const seconds = (this.#now() - started.at) / 1000;
    return seconds < SECONDS_MIN ? undefined : Math.ceil((seconds * (1 - share)) / share);
  }
}
