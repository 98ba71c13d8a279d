import type { FileInfo } from '../../domain/document.ts';
import type { JobId, TenantId } from '../../domain/id.ts';
import type { Job } from '../../domain/job.ts';
import type { Unfinished } from '../items/quota.ts';

interface Hold {
  readonly tenant: TenantId;
  readonly opened: FileInfo | undefined;
  readonly ended: Promise<void>;
  readonly end: () => void;
}

/** The jobs that wait for a payment, and who waits for the decision. */
export class JobsAwaitingPayment {
  readonly #holds = new Map<JobId, Hold>();

  get size(): number {
    return this.#holds.size;
  }

  /** @param opened what is known of its file, for when it is released. */
  begin(job: Job, opened: FileInfo | undefined): void {
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#holds.set(job.id, { tenant: job.tenant, opened, ended, end });
  }

  /** The payment has decided. @returns what is known of the job's file. */
  end(id: JobId): FileInfo | undefined {
    const hold = this.#holds.get(id);
    this.#holds.delete(id);
    hold?.end();
    return hold?.opened;
  }

  of(tenant: TenantId): Unfinished[] {
    return [...this.#holds].flatMap(([id, hold]) =>
      hold.tenant === tenant ? [{ id, opened: hold.opened }] : [],
    );
  }

  /** Resolves when the payment has decided, or the milliseconds are over; never in the same turn of the event loop. */
  async wait(id: JobId, milliseconds: number): Promise<void> {
    const hold = this.#holds.get(id);
    if (!hold) return void (await new Promise(setImmediate));
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      void hold.ended.then(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}
