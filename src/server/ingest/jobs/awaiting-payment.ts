import type { FileInfo } from '@farthing/protocol/document';
import type { JobId, TenantId } from '@farthing/protocol/id';
import type { Job } from '@farthing/protocol/job';
import type { Unfinished } from '../items/quota.ts';

interface AwaitingJob {
  readonly tenant: TenantId;
  readonly info: FileInfo | undefined;
  /** Resolves once the payment has succeeded or failed. */
  readonly decided: Promise<void>;
  readonly decide: () => void;
}

/** Jobs whose payment is not decided yet, and uploads of the same bytes that wait for the outcome. */
export class JobsAwaitingPayment {
  readonly #jobs = new Map<JobId, AwaitingJob>();

  get size(): number {
    return this.#jobs.size;
  }

  /** @param info facts of the job's file, for its release */
  add({ id, tenant }: Job, info: FileInfo | undefined): void {
    let decide = (): void => undefined;
    const decided = new Promise<void>((resolve) => {
      decide = resolve;
    });
    this.#jobs.set(id, { tenant, info, decided, decide });
  }

  /** The payment has succeeded or failed. @returns the facts of the job's file */
  remove(id: JobId): FileInfo | undefined {
    const job = this.#jobs.get(id);
    this.#jobs.delete(id);
    job?.decide();
    return job?.info;
  }

  *tenants(): Iterable<TenantId> {
    for (const { tenant } of this.#jobs.values()) yield tenant;
  }

  ofTenant(tenant: TenantId): Unfinished[] {
    return [...this.#jobs].flatMap(([id, job]) => (job.tenant === tenant ? [{ id, info: job.info }] : []));
  }

  /** Resolves when the payment has succeeded or failed, or after a time; never in the same turn of the event loop. */
  async untilDecided(id: JobId, milliseconds: number): Promise<void> {
    const job = this.#jobs.get(id);
    if (!job) return void (await new Promise(setImmediate));
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      void job.decided.then(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}
