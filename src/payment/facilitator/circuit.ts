import type { Clock } from '../../domain/clock.ts';

/** Failures in a row, of any payments, that open the circuit. */
const FAILURES_MAX = 5;
const OPEN_FIRST_MS = 5000;
const OPEN_LAST_MS = 60_000;

/**
 * A circuit breaker: after several failures in a row it is open, and lets one trial through each period; periods double up
 * to a minute. The first success closes it. What counts as a failure, its user says.
 */
export class Circuit {
  readonly #clock: Clock;
  readonly #onOpen: () => void;
  #failures = 0;
  #periodMs = OPEN_FIRST_MS;
  #trialAt = 0;

  constructor({ clock, onOpen }: { clock: Clock; onOpen: () => void }) {
    this.#clock = clock;
    this.#onOpen = onOpen;
  }

  /** True while closed. While open, true once a period: that caller is the trial. */
  admits(): boolean {
    if (this.#failures < FAILURES_MAX) return true;
    if (this.waitMs > 0) return false;
    this.#trialAt = this.#clock.now() + this.#periodMs;
    return true;
  }

  /** Milliseconds until the next trial; 0 when there is nothing to wait for. A clock that was set back makes it no longer. */
  get waitMs(): number {
    if (this.#failures < FAILURES_MAX) return 0;
    const left = this.#trialAt - this.#clock.now();
    return left > OPEN_LAST_MS ? 0 : Math.max(0, left);
  }

  succeeded(): void {
    this.#failures = 0;
    this.#periodMs = OPEN_FIRST_MS;
  }

  failed(): void {
    this.#failures += 1;
    if (this.#failures < FAILURES_MAX) return;
    if (this.#failures === FAILURES_MAX) this.#onOpen();
    else this.#periodMs = Math.min(2 * this.#periodMs, OPEN_LAST_MS);
    this.#trialAt = this.#clock.now() + this.#periodMs;
  }
}
