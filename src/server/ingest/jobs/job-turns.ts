import { FarthingError } from '@farthing/protocol/error';
import type { TenantId } from '@farthing/protocol/id';
import { FairQueue, hasRoom } from '@farthing/queues/fair-queue';
import type { Owners } from '@farthing/queues/owners';

/** A job that waits for its turn. */
export interface WaitingJob {
  readonly tenant: TenantId;
  /** Estimated duration, if its size allows an estimate. */
  readonly seconds?: number;
  /** Never rejects. */
  readonly begin: () => Promise<void>;
}

/** A job estimated at no more than this does not wait behind long ones. */
const QUICK_SECONDS = 2;
const RETRY_AFTER_S = 5;

/**
 * Runs a few jobs of all books of a process at once, fairly among owners by the time that their jobs take. One owner never holds the last
 * place, nor do long jobs.
 */
export class JobTurns {
  readonly #owners: Pick<Owners, 'of'>;
  readonly #now: () => number;
  readonly #queue: FairQueue<WaitingJob>;
  /** Owner of each job when it was queued; the same Tenant may have another owner later. */
  readonly #waiting = new Map<WaitingJob, string>();
  readonly #books = new Set<() => Iterable<TenantId>>();

  /** @param now milliseconds of a clock that never goes back */
  constructor(atOnceMax: number, owners: Pick<Owners, 'of'>, now: () => number = () => performance.now()) {
    this.#owners = owners;
    this.#now = now;
    this.#queue = new FairQueue({
      takenMax: atOnceMax,
      ownerTakenMax: Math.max(1, atOnceMax - 1),
      ...(atOnceMax > 1 && { quickCost: QUICK_SECONDS }),
    });
  }

  /** Adds the jobs of one set of books. @param unfinished the Tenant of each job that has not ended @returns takes it out again */
  join(unfinished: () => Iterable<TenantId>): () => void {
    this.#books.add(unfinished);
    return () => void this.#books.delete(unfinished);
  }

  /** @throws overloaded when the queue has no room for another job of the Tenant's owner */
  admit(tenant: TenantId, jobsMax: number): void {
    const owner = this.#owners.of(tenant);
    let [ofOwner, all] = [0, 0];
    for (const unfinished of this.#books) {
      for (const each of unfinished()) {
        all += 1;
        if (each === tenant || this.#owners.of(each) === owner) ofOwner += 1;
      }
    }
    if (hasRoom(ofOwner, all, jobsMax)) return;
    throw new FarthingError(
      'overloaded',
      `Too many files are waiting to be indexed, ${ofOwner} of them yours. Nothing was charged: try again later.`,
      { retryAfterS: RETRY_AFTER_S },
    );
  }

  push(job: WaitingJob): void {
    const owner = this.#owners.of(job.tenant);
    this.#waiting.set(job, owner);
    this.#queue.push(owner, job, job.seconds);
    this.#next();
  }

  /** Takes a job out before its turn. @returns false when it is not waiting */
  remove(job: WaitingJob): boolean {
    const owner = this.#waiting.get(job);
    this.#waiting.delete(job);
    return owner !== undefined && this.#queue.remove(owner, job);
  }

  #next(): void {
    for (let job = this.#queue.take(); job; job = this.#queue.take()) void this.#run(job);
  }

  async #run(job: WaitingJob): Promise<void> {
    this.#waiting.delete(job);
    const began = this.#now();
    await job.begin();
    this.#queue.done(job, (this.#now() - began) / 1000);
    this.#next();
  }
}
