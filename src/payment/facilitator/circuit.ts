import type { Address } from '@farthing/protocol/address';
import type { Clock } from '@farthing/protocol/clock';

/** Failures in a row that open the circuit: counted by wallet; one that has paid before counts twice. */
const WEIGHT_MAX = 5;
const WEIGHT_OF_PAYER = 2;
const OPEN_FIRST_MS = 5000;
const OPEN_LAST_MS = 60_000;

/** The payer of a call. */
export interface Caller {
  readonly payer: Address;
  /** The wallet has paid since the start. */
  readonly isKnown: boolean;
}

/**
 * A circuit breaker: after failures of several wallets in a row it is open, and lets one trial through each period; periods double up to a
 * minute. The first success closes it. The caller decides what counts as a failure. One wallet counts once, however often it fails: it may
 * be what makes its calls fail. Wallets that have paid and have not failed are always let through, so they close a circuit that unknown
 * wallets opened.
 */
export class Circuit {
  readonly #clock: Clock;
  readonly #onOpen: () => void;
  /** Wallets that failed since the last success; no more than open it, and those that had paid. */
  readonly #failed = new Set<Address>();
  #weight = 0;
  #periodMs = OPEN_FIRST_MS;
  #trial: Address | undefined;
  #trialAt = 0;

  constructor({ clock, onOpen }: { clock: Clock; onOpen: () => void }) {
    this.#clock = clock;
    this.#onOpen = onOpen;
  }

  /** True while closed. While it is open, true once a period: that caller is the trial. */
  admits(caller: Caller): boolean {
    if (!this.#isOpen || this.#isTrusted(caller)) return true;
    if (this.waitMs() > 0) return false;
    this.#trial = caller.payer;
    this.#trialAt = this.#clock.now() + this.#periodMs;
    return true;
  }

  /** Milliseconds until the caller may be the next trial; 0 when there is nothing to wait for. A clock that was set back makes it no longer. */
  waitMs(caller?: Caller): number {
    if (!this.#isOpen || (caller && this.#isTrusted(caller))) return 0;
    const left = this.#trialAt - this.#clock.now();
    return left > OPEN_LAST_MS ? 0 : Math.max(0, left);
  }

  succeeded(): void {
    this.#failed.clear();
    this.#weight = 0;
    this.#trial = undefined;
    this.#periodMs = OPEN_FIRST_MS;
  }

  failed({ payer, isKnown }: Caller): void {
    const wasOpen = this.#isOpen;
    if (!this.#failed.has(payer) && (!wasOpen || isKnown)) {
      this.#failed.add(payer);
      this.#weight += isKnown ? WEIGHT_OF_PAYER : 1;
    }
    if (!this.#isOpen) return;
    if (!wasOpen) this.#onOpen();
    else if (payer === this.#trial) this.#periodMs = Math.min(2 * this.#periodMs, OPEN_LAST_MS);
    // A call that began before it was open says nothing about now.
    else return;
    this.#trial = undefined;
    this.#trialAt = this.#clock.now() + this.#periodMs;
  }

  get #isOpen(): boolean {
    return this.#weight >= WEIGHT_MAX;
  }

  #isTrusted({ payer, isKnown }: Caller): boolean {
    return isKnown && !this.#failed.has(payer);
  }
}
