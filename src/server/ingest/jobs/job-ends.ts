import { FarthingError, toFarthingError } from '@farthing/protocol/error';
import { movedItem } from '@farthing/protocol/item';
import { type Job, owesCredit } from '@farthing/protocol/job';
import { isStorageFull } from '../items/files.ts';
import { removePreviews } from '../items/previews.ts';
import { removeMembers } from '../members/members.ts';
import type { IngestTenants, NewCredit, StoredFiles } from '../ports/ports.ts';
import type { JobTable } from './job-table.ts';

export interface JobEndsDeps {
  readonly tenants: IngestTenants;
  readonly files: StoredFiles;
  readonly jobs: JobTable;
  readonly newCredit: NewCredit;
  readonly log: (event: object) => void;
}

/** The ends of jobs that made nothing searchable: what is undone, what stays, and the credit that is owed. */
export class JobEnds {
  readonly #deps: JobEndsDeps;

  constructor(deps: JobEndsDeps) {
    this.#deps = deps;
  }

  /** Removes everything that a job made except its row: Item, file, and the files inside it. Idempotent. */
  async undo(job: Job): Promise<void> {
    const { tenants, files } = this.#deps;
    const folder = tenants.folder(job.tenant);
    await tenants.useIfThere(job.tenant, async (shard) => {
      const item = shard.item(job.item);
      if (item) await removeMembers(shard, { tenant: job.tenant, folder, files }, item);
      await shard.removeItem(job.item);
    });
    await removePreviews(folder, job.item);
    await files.remove(job.tenant, job.item);
  }

  /** Ends a job as cancelled: only its row stays. A payer's job is cancelled only with the payer's index, and leaves a credit. */
  async cancel(job: Job): Promise<void> {
    await this.undo(job);
    await this.giveOwedCredit(await this.#deps.jobs.move(job.id, 'cancelled'));
  }

  /** Ends a job as failed: its file goes, its Item is marked, its payer gets a credit. */
  async fail(job: Job, cause: unknown): Promise<void> {
    const { tenants, files, jobs, log } = this.#deps;
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
    // Its Item must not be shown beside the one that replaced it.
    if (error.code === 'item_replaced') await this.undo(job);
    await files.remove(job.tenant, job.item);
    try {
      await tenants.useIfThere(job.tenant, async (shard) => {
        const item = shard.item(job.item);
        if (!item) return;
        await removeMembers(shard, { tenant: job.tenant, folder, files }, item);
        await shard.putItem(movedItem(item, 'failed'));
      });
    } catch (markingFailure) {
      // The index itself may have failed. The job ends anyway; the next upload of the same bytes marks the Item.
      log({ event: 'ingest_stuck', job: job.id, error: stackOf(markingFailure) });
    }
    await this.giveOwedCredit(
      await jobs.move(job.id, 'failed', { error: { code: error.code, detail: error.detail } }),
    );
  }

  /** Gives the credit that an ended job owes. The row owes it until then, so that a crash in between loses nothing. */
  async giveOwedCredit(job: Job): Promise<void> {
    if (!owesCredit(job)) return;
    await this.#deps.newCredit(job.creditTo, job.id);
    await this.#deps.jobs.change(job.id, { creditTo: undefined });
  }
}

export function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
