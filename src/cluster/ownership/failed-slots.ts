/** Milliseconds that a slot that could not be opened is left to other servers: at first, and at most. */
const AWAY_MS_MIN = 60_000;
const AWAY_MS_MAX = 3_600_000;

/** Slots that could not be opened here. Others are to have them for a while, which doubles with each attempt that fails again. */
export class FailedSlots {
  readonly #now: () => number;
  readonly #slots = new Map<number, { readonly times: number; readonly until: number }>();

  /** @param now milliseconds of a monotonic clock */
  constructor(now: () => number) {
    this.#now = now;
  }

  failed(slot: number): void {
    const { times } = this.#slots.get(slot) ?? { times: 0 };
    const away = Math.min(AWAY_MS_MIN * 2 ** times, AWAY_MS_MAX);
    this.#slots.set(slot, { times: times + 1, until: this.#now() + away });
  }

  opened(slot: number): void {
    this.#slots.delete(slot);
  }

  /** Those that others are to have now, in order. */
  away(): number[] {
    const now = this.#now();
    return Array.from(this.#slots)
      .filter(([, { until }]) => now < until)
      .map(([slot]) => slot)
      .sort((a, b) => a - b);
  }
}
