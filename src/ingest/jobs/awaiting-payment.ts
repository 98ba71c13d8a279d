import type { FileInfo } from '../../domain/document.ts';
import type { JobId, TenantId } from '../../domain/id.ts';
import type { Job } from '../../domain/job.ts';
import type { Unfinished } from '../items/quota.ts';

interface AwaitingJob {
  readonly tenant: TenantId;
  readonly opened: FileInfo | undefined;
  readonly ended: Promise<void>;
  readonly end: () => void;
}

/** The jobs that wait for a payment, and who waits for the decision. */
export class JobsAwaitingPayment {
  readonly #jobs = new Map<JobId, AwaitingJob>();

  get size(): number {
    return this.#jobs.size;
  }

  /** @param opened what is known of its file, for when it is released. */
  begin(job: Job, opened: FileInfo | undefined): void {
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#jobs.set(job.id, { tenant: job.tenant, opened, ended, end });
  }

  /** The payment has decided. @returns what is known of the job's file. */
  end(id: JobId): FileInfo | undefined {
    const job = this.#jobs.get(id);
    this.#jobs.delete(id);
    job?.end();
    return job?.opened;
  }

  of(tenant: TenantId): Unfinished[] {
    return [...this.#jobs].flatMap(([id, job]) =>
      job.tenant === tenant ? [{ id, opened: job.opened }] : [],
    );
  }

  /** Resolves when the payment has decided, or the milliseconds are over; never in the same turn of the event loop. */
  async wait(id: JobId, milliseconds: number): Promise<void> {
    const job = this.#jobs.get(id);
    if (!job) return void (await new Promise(setImmediate));
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      void job.ended.then(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}
