import { FairQueue } from '../../domain/fair-queue.ts';
import type { TenantId } from '../../domain/id.ts';

/** A job that waits for its turn. */
export interface WaitingJob {
  readonly tenant: TenantId;
  /** Never rejects. */
  readonly begin: () => Promise<void>;
}

/**
 * Runs a few jobs at once, fairly among the Tenants of all books of a process. One Tenant's jobs leave at least one place to the
 * others.
 */
export class JobTurns {
  readonly #atOnceMax: number;
  readonly #queue: FairQueue<WaitingJob>;
  readonly #counts = new Set<() => number>();
  #running = 0;

  constructor(atOnceMax: number) {
    this.#atOnceMax = atOnceMax;
    this.#queue = new FairQueue({ tenantTakenMax: Math.max(1, atOnceMax - 1) });
  }

  /** Adds the jobs of one set of books. @param unfinished number of its jobs that have not ended @returns takes it out again */
  join(unfinished: () => number): () => void {
    this.#counts.add(unfinished);
    return () => void this.#counts.delete(unfinished);
  }

  /** Jobs of all books that have not ended. */
  get unfinished(): number {
    let sum = 0;
    for (const count of this.#counts) sum += count();
    return sum;
  }

  push(job: WaitingJob): void {
    this.#queue.push(job.tenant, job);
    this.#next();
  }

  /** Takes a job out before its turn. @returns false when it is not waiting */
  remove(job: WaitingJob): boolean {
    return this.#queue.remove(job.tenant, job);
  }

  #next(): void {
    while (this.#running < this.#atOnceMax) {
      const job = this.#queue.take();
      if (!job) return;
      this.#running++;
      void job.begin().finally(() => {
        this.#running--;
        this.#queue.done(job.tenant);
        this.#next();
      });
    }
  }
}
