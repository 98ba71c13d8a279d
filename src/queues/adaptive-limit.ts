/** How much longer than the fastest call one may take before it counts as waiting behind others. */
const TOLERANCE = 1.5;
/** Weight of a new estimate: single slow calls move the limit little. */
const SMOOTHING = 0.2;
/** The fastest call is remembered for one to two hours. */
const FASTEST_MS = 3_600_000;
/** A single slow call takes away no more than this share leaves. */
const GRADIENT_MIN = 0.25;
/** Part of the limit's root that may wait inside. With all of it a peer that takes one call after the other would always have four. */
const QUEUE_SHARE = 0.5;
const FIRST = 4;
const LEAST = 2;

/**
 * How many calls may be inside a peer at a time, by how long they take: fewer while they wait there for each other, more while
 * more are wanted and none waits. The gradient rule of Netflix's concurrency-limits, limit × fastest / measured + √limit, with less of both.
 */
export class AdaptiveLimit {
  readonly #most: number;
  readonly #now: () => number;
  #limit: number;
  #inside = 0;
  #fastestMs = Number.POSITIVE_INFINITY;
  #formerFastestMs = Number.POSITIVE_INFINITY;
  #rememberedUntil: number;

  /** @param now milliseconds of a clock that never goes back */
  constructor(most: number, now: () => number = () => performance.now()) {
    this.#most = most;
    this.#now = now;
    this.#limit = Math.min(FIRST, most);
    this.#rememberedUntil = now() + FASTEST_MS;
  }

  /** Whole calls, from 2 to the most. */
  get value(): number {
    return Math.floor(this.#limit);
  }

  /** Makes a call and learns from how long it took. It is for the caller to keep to `value`. */
  async measured<T>(call: () => Promise<T>): Promise<T> {
    const began = this.#now();
    this.#inside += 1;
    try {
      return await call();
    } finally {
      this.#learn(this.#now() - began);
      this.#inside -= 1;
    }
  }

  #learn(tookMs: number): void {
    this.#remember(tookMs);
    const fastest = Math.min(this.#fastestMs, this.#formerFastestMs);
    const gradient = Math.min(1, Math.max(GRADIENT_MIN, (TOLERANCE * fastest) / tookMs));
    const estimate = gradient * this.#limit + QUEUE_SHARE * Math.sqrt(this.#limit);
    // A limit that is not reached has proved nothing about more.
    if (estimate > this.#limit && 2 * this.#inside < this.#limit) return;
    const smoothed = (1 - SMOOTHING) * this.#limit + SMOOTHING * estimate;
    this.#limit = Math.min(this.#most, Math.max(LEAST, smoothed));
  }

  #remember(tookMs: number): void {
    const now = this.#now();
    if (now >= this.#rememberedUntil) {
      this.#formerFastestMs = this.#fastestMs;
      this.#fastestMs = Number.POSITIVE_INFINITY;
      this.#rememberedUntil = now + FASTEST_MS;
    }
    // Less than the clock can tell would make every other call look slow.
    this.#fastestMs = Math.min(this.#fastestMs, Math.max(tookMs, 0.1));
  }
}
