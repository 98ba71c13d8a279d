import { FairQueue } from './fair-queue.ts';

export interface TurnstileLimits {
  /** That may be inside at a time (read whenever somebody may enter), and of those from one Tenant. */
  readonly insideMax: number;
  readonly tenantInsideMax: number;
  /** That may wait at a time, and of those from one Tenant. */
  readonly waitingMax: number;
  readonly tenantWaitingMax: number;
  readonly waitMsMax: number;
}

interface Waiting {
  readonly tenant: string;
  readonly enter: () => void;
}

/** Lets a bounded number of calls through at a time, by Tenants' turns. */
export class Turnstile {
  readonly #limits: TurnstileLimits;
  readonly #waiting: FairQueue<Waiting>;
  readonly #refusal: () => Error;
  #inside = 0;

  /** `refusal`: the error when it is full, or the wait too long. */
  constructor(limits: TurnstileLimits, refusal: () => Error) {
    const { waitingMax, tenantWaitingMax, tenantInsideMax } = limits;
    this.#limits = limits;
    this.#refusal = refusal;
    this.#waiting = new FairQueue({ waitingMax, tenantWaitingMax, tenantTakenMax: tenantInsideMax });
  }

  /**
   * Does the work once it is the Tenant's turn. A client that leaves gives up its place in the line.
   * @throws the refusal, `left` when the client has left before its turn, and whatever the work throws
   */
  async pass<T>(
    tenant: string,
    work: () => Promise<T>,
    { signal, left }: { signal: AbortSignal; left: () => Error },
  ): Promise<T> {
    await this.#turn(tenant, signal, left);
    try {
      return await work();
    } finally {
      this.#inside -= 1;
      this.#waiting.done(tenant);
      this.#admit();
    }
  }

  #turn(tenant: string, signal: AbortSignal, left: () => Error): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(left());
      const over = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', leave);
      };
      const entry: Waiting = {
        tenant,
        enter: () => {
          over();
          resolve();
        },
      };
      const give = (error: Error): void => {
        this.#waiting.remove(tenant, entry);
        over();
        reject(error);
      };
      const leave = () => give(left());
      if (!this.#waiting.push(tenant, entry)) return reject(this.#refusal());
      const timer = setTimeout(() => give(this.#refusal()), this.#limits.waitMsMax);
      signal.addEventListener('abort', leave, { once: true });
      this.#admit();
    });
  }

  #admit(): void {
    while (this.#inside < this.#limits.insideMax) {
      const next = this.#waiting.take();
      if (!next) return;
      this.#inside += 1;
      next.enter();
    }
  }
}
