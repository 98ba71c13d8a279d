import type { JobId } from '@farthing/protocol/id';

/** No estimate until this many seconds have passed. */
const SECONDS_MIN = 0.5;
/** No estimate before this share of the work is done. */
const SHARE_MIN = 0.02;

/** Estimates the time left of running jobs. */
export class Pace {
  /** When each job began, in milliseconds. */
  readonly #began = new Map<JobId, number>();
  readonly #now: () => number;

  /** @param now milliseconds from any origin, never going back */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  begin(id: JobId): void {
    this.#began.set(id, this.#now());
  }

  end(id: JobId): void {
    this.#began.delete(id);
  }

  /** Whole seconds left if the rest takes as long as the share that is done; undefined while an estimate would be a guess. */
  secondsLeft(id: JobId, share: number): number | undefined {
    const began = this.#began.get(id);
    if (began === undefined || share < SHARE_MIN) return undefined;
    const seconds = (this.#now() - began) / 1000;
    return seconds < SECONDS_MIN ? undefined : Math.ceil((seconds * (1 - share)) / share);
  }
}
