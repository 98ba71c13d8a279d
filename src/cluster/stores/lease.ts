import { type Moment, moment, msBetween } from '@farthing/protocol/clock';
import { AnswerLostError, type Leases } from './kv.ts';

export interface LeaseOptions {
  readonly leases: Leases;
  /** Seconds without a renewal after which the lease's keys are free for other servers. */
  readonly seconds: number;
  /** The lease is over: what hung on it may belong to another process. Called once. */
  readonly onLost: (error: Error) => void;
  readonly now?: () => Moment;
  /** Does something every so many milliseconds. @returns ends that */
  readonly every?: (milliseconds: number, work: () => void) => () => void;
}

const RENEWALS_PER_LEASE = 5;
/** Share of the lease by which this process considers it over before the engine does, since clocks differ in speed. */
const MARGIN_SHARE = 0.2;

/**
 * Renews a lease for as long as this process lives, and decides whether it may still answer: its time is counted from the sending of the
 * last acknowledged renewal, so that no answer goes out after another process can have taken over. Both the monotonic clock and the wall
 * clock count, whichever is ahead: the monotonic clock stops while a machine is suspended.
 */
export class Lease {
  readonly id: string;
  readonly #options: LeaseOptions;
  readonly #stopRenewing: () => void;
  #renewedAt: Moment;
  #renewing: Promise<void> | undefined;
  #isOver = false;

  /** @throws AnswerLostError */
  static async take(options: LeaseOptions): Promise<Lease> {
    const askedAt = (options.now ?? moment)();
    return new Lease(await options.leases.grant(options.seconds), askedAt, options);
  }

  private constructor(id: string, askedAt: Moment, options: LeaseOptions) {
    this.id = id;
    this.#options = options;
    this.#renewedAt = askedAt;
    const { every = realInterval, seconds } = options;
    this.#stopRenewing = every((1000 * seconds) / RENEWALS_PER_LEASE, () => {
      this.#renewing ??= this.#renew().finally(() => {
        this.#renewing = undefined;
      });
    });
  }

  /** Whether no other process can have taken over. */
  get holds(): boolean {
    return !this.#isOver && this.silentMs < 1000 * this.#options.seconds * (1 - MARGIN_SHARE);
  }

  /** Milliseconds since the last renewal was sent that was acknowledged. */
  get silentMs(): number {
    return msBetween(this.#renewedAt, this.#now());
  }

  /** Gives it back: another process may take over at once. */
  async end(): Promise<void> {
    this.#isOver = true;
    this.#stopRenewing();
    await this.#renewing;
    // It ends by itself otherwise.
    await this.#options.leases.revoke(this.id).catch(() => undefined);
  }

  #now(): Moment {
    return (this.#options.now ?? moment)();
  }

  async #renew(): Promise<void> {
    const askedAt = this.#now();
    try {
      const seconds = await this.#options.leases.renew(this.id);
      if (seconds > 0) this.#renewedAt = askedAt;
      else if (!this.#isOver) this.#lose();
    } catch (error) {
      if (!(error instanceof AnswerLostError)) throw error;
    }
  }

  #lose(): void {
    this.#isOver = true;
    this.#stopRenewing();
    this.#options.onLost(
      new Error('the lease on the slots is over, and they may belong to another process now'),
    );
  }
}

function realInterval(milliseconds: number, work: () => void): () => void {
  const timer = setInterval(work, milliseconds).unref();
  return () => clearInterval(timer);
}
