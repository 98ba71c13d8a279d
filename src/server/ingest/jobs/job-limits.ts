import { FarthingError } from '@farthing/protocol/error';
import type { TenantId } from '@farthing/protocol/id';
import { hasRoom } from '@farthing/queues/fair-queue';
import { Limit } from '@farthing/queues/limit';
import type { Owners } from '@farthing/queues/owners';

/** A job estimated at no more than this does not wait behind long ones. */
const QUICK_SECONDS = 2;
const RETRY_AFTER_S = 5;

export interface JobOptions {
  /** Estimated duration, if its size allows an estimate. */
  readonly seconds: number | undefined;
  /** Aborted: a job that waits leaves. */
  readonly signal: AbortSignal;
}

/**
 * Bounds the jobs of all stores of a process: those that wait, and the few that run at once, fairly among owners by the time that their
 * jobs take. The last slot to run is never taken by the same owner, nor by a long job.
 */
export class JobLimits {
  readonly #owners: Pick<Owners, 'of'>;
  readonly #now: () => number;
  readonly #running: Limit;
  readonly #books = new Set<() => Iterable<TenantId>>();

  /** @param now milliseconds of a clock that never goes back */
  constructor(atOnceMax: number, owners: Pick<Owners, 'of'>, now: () => number = () => performance.now()) {
    this.#owners = owners;
    this.#now = now;
    this.#running = new Limit(
      {
        insideMax: atOnceMax,
        ownerInsideMax: Math.max(1, atOnceMax - 1),
        ...(atOnceMax > 1 && { quickCost: QUICK_SECONDS }),
      },
      // Not reached: `refuseBeyond` bounds the jobs that wait.
      () => tooManyJobs(0),
    );
  }

  /** Adds the jobs of one store. @param unfinished the Tenant of each job that has not ended @returns removes it again */
  join(unfinished: () => Iterable<TenantId>): () => void {
    this.#books.add(unfinished);
    return () => void this.#books.delete(unfinished);
  }

  /** @throws overloaded when there is no room for another job of the Tenant's owner */
  refuseBeyond(tenant: TenantId, jobsMax: number): void {
    const owner = this.#owners.of(tenant);
    let [ofOwner, all] = [0, 0];
    for (const unfinished of this.#books) {
      for (const each of unfinished()) {
        all += 1;
        if (each === tenant || this.#owners.of(each) === owner) ofOwner += 1;
      }
    }
    if (!hasRoom(ofOwner, all, jobsMax)) throw tooManyJobs(ofOwner);
  }

  /** Runs a job when the queue reaches it. @param begin never rejects @throws the signal's reason, where the job left */
  run(tenant: TenantId, begin: () => Promise<void>, { seconds: cost, signal }: JobOptions): Promise<void> {
    return this.#running.run(
      this.#owners.of(tenant),
      async (entered) => {
        const began = this.#now();
        await begin();
        entered.cost = (this.#now() - began) / 1000;
      },
      { cost, signal },
    );
  }
}

function tooManyJobs(ofOwner: number): FarthingError {
  return new FarthingError(
    'overloaded',
    `Too many files are waiting to be indexed, ${ofOwner} of them yours. Nothing was charged: try again later.`,
    { retryAfterS: RETRY_AFTER_S },
  );
}
