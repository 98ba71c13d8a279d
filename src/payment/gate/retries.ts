import type { InFlightPurchase } from './in-flight-purchase.ts';

const RETRY_FIRST_MS = 1000;
const RETRY_LAST_MS = 60_000;
/** How long a client's retry waits for a pending outcome at least, before it gets `settlement_pending`. */
const HURRY_MS_MIN = 2000;

interface Retry {
  delayMs: number;
  timer?: NodeJS.Timeout;
  running?: Promise<void>;
}

/** The unfinished purchases: each is attempted again, after a second at first and after a minute at last. */
export class Retries {
  readonly #attempt: (purchase: InFlightPurchase) => Promise<void>;
  readonly #retries = new Map<InFlightPurchase, Retry>();
  readonly #hurryMs: number;
  #closed = false;

  /** `attempt`: ends the retries of a purchase that it has finished. Never throws. */
  constructor(attempt: (purchase: InFlightPurchase) => Promise<void>, hurryMs: number) {
    this.#attempt = attempt;
    this.#hurryMs = Math.max(HURRY_MS_MIN, hurryMs);
  }

  get size(): number {
    return this.#retries.size;
  }

  begin(purchase: InFlightPurchase): void {
    this.#add(purchase);
    this.#schedule(purchase);
  }

  /** The same, with a first attempt that runs already; those who hurry wait for it. @returns its outcome */
  async beginWith<T>(purchase: InFlightPurchase, attempt: () => Promise<T>): Promise<T> {
    const retry = this.#add(purchase);
    const outcome = attempt();
    retry.running = outcome.then(noop, noop);
    try {
      return await outcome;
    } finally {
      retry.running = undefined;
      this.#schedule(purchase);
    }
  }

  end(purchase: InFlightPurchase): void {
    if (this.#retries.delete(purchase)) purchase.resume();
  }

  /** One attempt now, unless one runs; attempts of one purchase never overlap. */
  now(purchase: InFlightPurchase): Promise<void> {
    const retry = this.#retries.get(purchase);
    if (!retry || this.#closed) return Promise.resolve();
    clearTimeout(retry.timer);
    retry.running ??= this.#attempt(purchase).finally(() => {
      retry.running = undefined;
      this.#schedule(purchase);
    });
    return retry.running;
  }

  /** One attempt now, which is waited for a moment. */
  async hurry(purchase: InFlightPurchase): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const moment = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, this.#hurryMs);
    });
    const attempt = Promise.all([this.now(purchase), purchase.ended.then(noop, noop)]);
    await Promise.race([attempt, moment]);
    clearTimeout(timer);
  }

  async close(): Promise<void> {
    this.#closed = true;
    const running = [...this.#retries.values()].map((retry) => {
      clearTimeout(retry.timer);
      return retry.running;
    });
    await Promise.allSettled(running);
  }

  #add(purchase: InFlightPurchase): Retry {
    const retry = this.#retries.get(purchase) ?? { delayMs: RETRY_FIRST_MS };
    this.#retries.set(purchase, retry);
    purchase.postpone();
    return retry;
  }

  #schedule(purchase: InFlightPurchase): void {
    const retry = this.#retries.get(purchase);
    if (!retry || retry.running || this.#closed) return;
    clearTimeout(retry.timer);
    retry.timer = setTimeout(() => void this.now(purchase), retry.delayMs).unref();
    retry.delayMs = Math.min(2 * retry.delayMs, RETRY_LAST_MS);
  }
}

function noop(): void {}
