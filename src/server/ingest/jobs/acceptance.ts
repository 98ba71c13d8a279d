import type { Address } from '@farthing/protocol/address';
import { type Clock, toTimestamp } from '@farthing/protocol/clock';
import type { FileInfo } from '@farthing/protocol/document';
import { FarthingError } from '@farthing/protocol/error';
import { jobOfItem, type LeadsHere, type TenantId } from '@farthing/protocol/id';
import { isCalled, movedItem } from '@farthing/protocol/item';
import { isEnded, type Job } from '@farthing/protocol/job';
import type { Item } from '@farthing/protocol/schema/items';
import { endedJob, newItemId, pendingItem } from '../items/new-item.ts';
import { checkQuota, loadOf, loadOfUnfinished, type Unfinished } from '../items/quota.ts';
import { checkExpected, isSame, itemWithBytes, itemWithKey } from '../members/replacing.ts';
import type { IngestLimits } from '../ports/limits.ts';
import type { IngestTenants, StagedUpload, StoredFiles } from '../ports/ports.ts';
import type { JobsAwaitingPayment } from './awaiting-payment.ts';
import type { JobTable } from './job-table.ts';

export interface IngestAnswer {
  readonly item: Item;
  readonly job: Job;
  /** The Tenant has these bytes already: nothing was done. */
  readonly duplicate: boolean;
}

export interface AcceptanceDeps {
  readonly tenants: IngestTenants;
  readonly files: StoredFiles;
  readonly clock: Clock;
  readonly expiry: (tenant: TenantId) => string | null;
  readonly limits: IngestLimits;
  /** A new job's id belongs to this store. */
  readonly leadsHere: LeadsHere;
  readonly jobs: JobTable;
  readonly awaitingPayment: JobsAwaitingPayment;
  /** A Tenant's jobs that wait or run. */
  readonly jobsOf: (tenant: TenantId) => readonly Unfinished[];
  /** Queues an accepted job that awaits no payment. */
  readonly start: (job: Job, info: FileInfo, bytes: number) => void;
}

const RETRY_AFTER_S = 5;

/** Turns uploads into Items of their Tenants. The same bytes become one Item. */
export class Acceptance {
  readonly #deps: AcceptanceDeps;
  /** The latest acceptance by Tenant and key, or Tenant and digest without a key. The next one waits for it. */
  readonly #running = new Map<string, Promise<unknown>>();

  constructor(deps: AcceptanceDeps) {
    this.#deps = deps;
  }

  /** The Tenant's jobs that wait, run, or await payment. */
  unfinished(tenant: TenantId): readonly Unfinished[] {
    return [...this.#deps.jobsOf(tenant), ...this.#deps.awaitingPayment.ofTenant(tenant)];
  }

  /**
   * Moves the file, and writes its Item as pending and its job as accepted; all durable.
   * @throws tenant_full, storage_full, overloaded.
   */
  async accept(
    tenant: TenantId,
    upload: StagedUpload,
    info: FileInfo,
    options: { held: boolean; creditTo?: Address },
  ): Promise<IngestAnswer> {
    const key = upload.key === undefined ? `${tenant} ${upload.sha256}` : `${tenant} key ${upload.key}`;
    const before = this.#running.get(key) ?? Promise.resolve();
    const acceptance = before
      .catch(() => undefined)
      .then(() => this.#acceptAlone(tenant, upload, info, options));
    this.#running.set(key, acceptance);
    try {
      return await acceptance;
    } finally {
      if (this.#running.get(key) === acceptance) this.#running.delete(key);
    }
  }

  /**
   * The Item with the same bytes, or with the same key where it is the same besides. Waits while an open payment may still remove it.
   * @throws precondition_failed, overloaded
   */
  async findDuplicate(tenant: TenantId, upload: StagedUpload): Promise<IngestAnswer | undefined> {
    const { sha256, key, onlyIf } = upload;
    const { awaitingPayment, jobs, limits } = this.#deps;
    const deadline = performance.now() + limits.heldWaitSecondsMax * 1000;
    for (;;) {
      const item = await this.#deps.tenants.useIfThere(tenant, (shard) =>
        key === undefined ? itemWithBytes(shard, sha256) : itemWithKey(shard, key),
      );
      if (!item) {
        checkExpected(undefined, upload);
        return undefined;
      }
      const isDuplicate = key === undefined || isSame(item, upload);
      if (!isDuplicate && !onlyIf) return undefined;
      const job = jobs.get(jobOfItem(item.id));
      if (item.state === 'pending' && (job?.state === 'failed' || job?.state === 'cancelled')) {
        // The job ended, but the index could not be written.
        await this.#deps.tenants.useIfThere(tenant, (shard) => shard.putItem(movedItem(item, 'failed')));
        continue;
      }
      if (!job?.held || isEnded(job.state)) {
        checkExpected(item, upload);
        if (!isDuplicate) return undefined;
        const named = await this.#withName(tenant, item, upload);
        return { item: named, job: job ?? endedJob(tenant, item), duplicate: true };
      }
      const left = deadline - performance.now();
      if (left <= 0) {
        throw new FarthingError('overloaded', 'The same file is being paid for. Try again later.', {
          retryAfterS: RETRY_AFTER_S,
        });
      }
      await awaitingPayment.untilDecided(job.id, left);
    }
  }

  /** The Item, found by the upload's name too. With a key a new name makes a new version instead. */
  async #withName(tenant: TenantId, item: Item, { name, key }: StagedUpload): Promise<Item> {
    if (key !== undefined || isCalled(item, name)) return item;
    const named = await this.#deps.tenants.useIfThere(tenant, async (shard) => {
      await shard.addAlias(item.id, name);
      return shard.item(item.id);
    });
    return named ?? item;
  }

  async #acceptAlone(
    tenant: TenantId,
    upload: StagedUpload,
    info: FileInfo,
    { held, creditTo }: { held: boolean; creditTo?: Address },
  ): Promise<IngestAnswer> {
    const duplicate = await this.findDuplicate(tenant, upload);
    if (duplicate) return duplicate;
    const { tenants, files, clock, expiry, limits, leadsHere, jobs, awaitingPayment } = this.#deps;
    const times = { created_at: toTimestamp(clock.now()), expires_at: expiry(tenant) };
    const { name, bytes, sha256, metadata, key } = upload;
    const origin = { id: newItemId(leadsHere), name, bytes, sha256, metadata, key, ...times };
    const item = pendingItem(origin, info);
    const answer = await tenants.use(tenant, { create: true }, async (shard) => {
      const waiting = loadOfUnfinished(shard, this.unfinished(tenant));
      checkQuota(limits, shard, loadOf(bytes, info), waiting);
      const id = jobOfItem(item.id);
      const created = jobs
        .create({
          id,
          tenant,
          item: item.id,
          ...(held && { held }),
          ...(creditTo !== undefined && { creditTo }),
        })
        .then((job) => {
          // Before the Item is visible, so that the same bytes wait for the payment.
          if (held) awaitingPayment.add(job, info);
          return job;
        });
      try {
        // The job comes first: after a crash, `resume` undoes a job without an Item.
        await files.keep(tenant, item.id, upload.path, created);
        await shard.putItem(item);
      } catch (error) {
        // If the job could not be created, its id belongs to another job: remove nothing.
        await created;
        awaitingPayment.remove(id);
        await files.remove(tenant, item.id);
        await jobs.remove(id);
        throw error;
      }
      return { item, job: await created, duplicate: false };
    });
    if (!held) this.#deps.start(answer.job, info, upload.bytes);
    return answer;
  }
}
