import { FarthingError, toFarthingError } from '../../domain/error.ts';
import { movedItem } from '../../domain/item.ts';
import { type Job, owesCredit } from '../../domain/job.ts';
import { fileOf, isStorageFull, removeFile } from '../items/files.ts';
import { removePreviews } from '../items/previews.ts';
import { removeMembers } from '../members/members.ts';
import type { IngestTenants, NewCredit } from '../ports/ports.ts';
import type { JobTable } from './job-table.ts';

export interface JobEndsDeps {
  readonly tenants: IngestTenants;
  readonly jobs: JobTable;
  readonly newCredit: NewCredit;
  readonly log: (event: object) => void;
}

/** The ends of jobs that make nothing searchable: what is undone, what stays, and the credit that is owed. */
export class JobEnds {
  readonly #deps: JobEndsDeps;

  constructor(deps: JobEndsDeps) {
    this.#deps = deps;
  }

  /** Removes all that an ingest has made but its row: the files inside its file, its Item, its file. May be done again; a Tenant's end does the same. */
  async undo(job: Job): Promise<void> {
    const { tenants } = this.#deps;
    const folder = tenants.folder(job.tenant);
    await tenants.useIfThere(job.tenant, async (shard) => {
      const item = shard.item(job.item);
      if (item) await removeMembers(shard, folder, item);
      await shard.removeItem(job.item);
    });
    await removePreviews(folder, job.item);
    await removeFile(fileOf(folder, job.item));
  }

  /** Ends a job as cancelled: nothing of it is left but its row. A payer's jobs end so with its index alone: what was paid for is a credit. */
  async cancel(job: Job): Promise<void> {
    await this.undo(job);
    await this.settleCredit(await this.#deps.jobs.move(job.id, 'cancelled'));
  }

  /** Ends a job as failed: its file goes, its Item says so, its payer has a credit. */
  async fail(job: Job, cause: unknown): Promise<void> {
    const { tenants, jobs, log } = this.#deps;
    const error = isStorageFull(cause)
      ? new FarthingError('storage_full', 'The disk is full.', { cause })
      : toFarthingError(cause);
    log({
      event: 'ingest_failed',
      job: job.id,
      code: error.code,
      ...(error.code === 'internal' && { error: stackOf(cause) }),
    });
    const folder = tenants.folder(job.tenant);
    await removeFile(fileOf(folder, job.item));
    try {
      await tenants.useIfThere(job.tenant, async (shard) => {
        const item = shard.item(job.item);
        if (!item) return;
        await removeMembers(shard, folder, item);
        await shard.putItem(movedItem(item, 'failed'));
      });
    } catch (second) {
      // The index may be what failed: the job ends all the same. Whoever sends the same bytes again marks the Item.
      log({ event: 'ingest_stuck', job: job.id, error: stackOf(second) });
    }
    await this.settleCredit(
      await jobs.move(job.id, 'failed', { error: { code: error.code, detail: error.detail } }),
    );
  }

  /** Gives the credit that an ended job owes; the row owes it until it is given, a crash between notwithstanding. */
  async settleCredit(job: Job): Promise<void> {
    if (!owesCredit(job)) return;
    await this.#deps.newCredit(job.creditTo, job.id);
    await this.#deps.jobs.change(job.id, { creditTo: undefined });
  }
}

export function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
