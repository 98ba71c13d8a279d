import type { Clock } from '../domain/clock.ts';
import { toTimestamp } from '../domain/clock.ts';
import type { Opened } from '../domain/document.ts';
import { errorCode, FarthingError } from '../domain/error.ts';
import { newId } from '../domain/id.ts';
import type { Item } from '../domain/item.ts';
import { isEnded, type Job } from '../domain/job.ts';
import type { Address } from '../domain/payment.ts';
import type { Store } from '../state/store.ts';
import { fileOf, keepFile, removeFile } from './files.ts';
import { Holds } from './holds.ts';
import { JobTable, jobOf } from './job-table.ts';
import type {
  IngestEncoder,
  IngestExtractor,
  IngestLimits,
  IngestShard,
  IngestTenants,
  NewCredit,
  StagedUpload,
} from './parts.ts';
import { JobRunner } from './runner.ts';

export interface IngestParts {
  readonly tenants: IngestTenants;
  readonly extractor: IngestExtractor;
  readonly encoder: IngestEncoder;
  readonly store: Store;
  readonly clock: Clock;
  /** When a Tenant's new Item will be disposed of (RFC 3339), or null. */
  readonly expiry: (tenant: string) => string | null;
  readonly limits: IngestLimits;
  readonly newCredit: NewCredit;
  readonly log: (event: object) => void;
}

export interface IngestAnswer {
  readonly item: Item;
  readonly job: Job;
  /** The same bytes were there before: nothing was done. */
  readonly duplicate: boolean;
}

const RETRY_AFTER_S = 5;
const PRUNE_EVERY_JOBS = 1_000;
const HOUR_MS = 3_600_000;

/** From a received file to a searchable Item: checks, keeps, queues, and tells how it goes. */
export class Ingest {
  readonly #parts: IngestParts;
  readonly #jobs: JobTable;
  readonly #runner: JobRunner;
  readonly #holds: Holds;
  /** The last acceptance of each file's bytes: the same bytes wait for it. */
  readonly #accepting = new Map<string, Promise<unknown>>();
  #accepted = 0;
  #closed = false;

  constructor(parts: IngestParts) {
    this.#parts = parts;
    this.#jobs = new JobTable(parts.store, parts.clock);
    this.#runner = new JobRunner({ ...parts, jobs: this.#jobs });
    this.#holds = new Holds();
  }

  /** Jobs that have not ended: those that wait for their turn, those that run, and those that a payment still holds. */
  depths(): { readonly queued: number; readonly running: number; readonly held: number } {
    const { size, runningCount } = this.#runner;
    return { queued: size - runningCount, running: runningCount, held: this.#holds.size };
  }

  /**
   * Asked before money moves.
   * @throws overloaded when no job could be queued now; rate_limited when the Tenant has enough of them waiting.
   */
  admit(tenant: string): void {
    if (this.#closed)
      throw new FarthingError('interrupted', 'The server is stopping.', { retryAfterS: RETRY_AFTER_S });
    if (this.#runner.size + this.#holds.size >= this.#parts.limits.jobsMax) {
      throw new FarthingError('overloaded', 'Too many files wait to be indexed. Try again later.', {
        retryAfterS: RETRY_AFTER_S,
      });
    }
    const { jobsPerTenantMax } = this.#parts.limits;
    if (this.#unfinished(tenant) >= jobsPerTenantMax) {
      throw new FarthingError(
        'rate_limited',
        `${jobsPerTenantMax} of your files wait to be indexed. Wait until some are done. Nothing was charged.`,
        { retryAfterS: RETRY_AFTER_S },
      );
    }
    this.#parts.encoder.admitIngest();
  }

  /**
   * Recognises, checks and opens a received file; nothing lasts of it. The same bytes in the Tenant's index, still
   * pending ones too, make it a duplicate; those that a payment still holds are waited for.
   * @throws what the extractor's `open` throws; tenant_full; overloaded.
   */
  async inspect(
    tenant: string,
    upload: StagedUpload,
  ): Promise<{ opened: Opened } | { duplicate: IngestAnswer }> {
    const duplicate = await this.#findDuplicate(tenant, upload);
    if (duplicate) return { duplicate };
    return { opened: await this.#parts.extractor.open(upload.path, { name: upload.name, tenant }) };
  }

  /**
   * Makes the upload the Tenant's: its file is moved, its Item pending, its job accepted, all durable. A held job waits
   * for `release`. @throws overloaded, tenant_full, storage_full.
   */
  async accept(
    tenant: string,
    upload: StagedUpload,
    opened: Opened,
    options: { held: boolean; creditTo?: Address },
  ): Promise<IngestAnswer> {
    this.admit(tenant);
    const key = `${tenant} ${upload.sha256}`;
    const before = this.#accepting.get(key) ?? Promise.resolve();
    const own = before.catch(() => undefined).then(() => this.#acceptAlone(tenant, upload, opened, options));
    this.#accepting.set(key, own);
    try {
      return await own;
    } finally {
      if (this.#accepting.get(key) === own) this.#accepting.delete(key);
    }
  }

  /** Starts a held job; once more changes nothing. @throws job_not_found. */
  async release(jobId: string): Promise<IngestAnswer> {
    let job = this.#existing(jobId);
    if (job.held) {
      job = await this.#jobs.change(jobId, { held: undefined });
      const opened = this.#holds.end(jobId);
      // Its Tenant's end came before: what was paid for will not be done.
      if (isEnded(job.state)) await this.#runner.settleCredit(job);
      else this.#runner.start(job, opened);
    }
    const item = await this.#itemOf(job);
    if (!item) throw new FarthingError('job_not_found', 'The job was cancelled, and its item is gone.');
    return { item, job: this.#jobs.get(jobId) ?? job, duplicate: false };
  }

  /** Undoes a held job: Item, file and job vanish. A job that is unknown, or no longer held, stays as it is. */
  async withdraw(jobId: string): Promise<void> {
    const job = this.#jobs.get(jobId);
    if (!job?.held) return;
    await this.#erase(job);
    this.#holds.end(jobId);
  }

  job(id: string): Job | undefined {
    return this.#jobs.get(id);
  }

  /** Ids of the jobs that wait for a payment: read at a start, when no request runs. */
  async heldJobs(): Promise<string[]> {
    const held: string[] = [];
    for await (const job of this.#jobs.all()) if (job.held) held.push(job.id);
    return held;
  }

  /** Resolves when the job ends, the milliseconds are over or the signal is aborted, with its state then. */
  waitFor(jobId: string, milliseconds: number, signal?: AbortSignal): Promise<Job | undefined> {
    return this.#jobs.waitFor(jobId, milliseconds, signal);
  }

  /** Cancels a job; nothing of it is left but its state. @throws job_not_found, job_ended. */
  async cancel(jobId: string): Promise<Job> {
    const job = this.#existing(jobId);
    if (isEnded(job.state)) throw ended(job);
    if (job.held) await this.#cancelHeld(job);
    else await this.#runner.cancel(jobId);
    const after = this.#existing(jobId);
    if (after.state !== 'cancelled') throw ended(after);
    return after;
  }

  /** Cancels all jobs of a Tenant and waits for their end: before its disposal. */
  async cancelTenant(tenant: string): Promise<void> {
    await this.#runner.cancelTenant(tenant);
    for (const id of this.#holds.of(tenant)) {
      const job = this.#jobs.get(id);
      if (job?.held && !isEnded(job.state)) await this.#cancelHeld(job);
    }
  }

  /**
   * At start, before the first request: jobs that the last end of the server interrupted run again, or fail after too
   * many attempts; held ones stay held, for the payment's recovery to decide; credits that are owed are given.
   */
  async resume(): Promise<void> {
    for await (const job of this.#jobs.all()) {
      if (isEnded(job.state)) {
        if (job.state === 'failed') await this.#runner.settleCredit(job);
        continue;
      }
      // The payment's recovery may have released it already.
      if (this.#runner.has(job.id)) continue;
      if (this.#parts.tenants.exists(job.tenant)) await this.#resumeJob(job);
      else await this.#jobs.remove(job.id);
    }
    await this.#prune();
  }

  /** Stops; running jobs go on at the next start. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#runner.close();
    this.#jobs.settleAll();
  }

  async #acceptAlone(
    tenant: string,
    upload: StagedUpload,
    opened: Opened,
    { held, creditTo }: { held: boolean; creditTo?: Address },
  ): Promise<IngestAnswer> {
    const duplicate = await this.#findDuplicate(tenant, upload);
    if (duplicate) return duplicate;
    const { tenants, clock, expiry } = this.#parts;
    const item = pendingItem(upload, opened, toTimestamp(clock.now()), expiry(tenant));
    const answer = await tenants.use(tenant, { create: true }, async (shard) => {
      this.#checkRoom(tenant, shard, upload);
      // In this order, a crash leaves what `resume` recognises: a job without an Item is undone.
      const job = await this.#jobs.create({
        id: jobOf(item.id),
        tenant,
        item: item.id,
        ...(held && { held }),
        ...(creditTo !== undefined && { creditTo }),
      });
      try {
        await keepFile(upload.path, fileOf(tenants.folder(tenant), item.id));
        await shard.putItem(item);
      } catch (error) {
        await removeFile(fileOf(tenants.folder(tenant), item.id));
        await this.#jobs.remove(job.id);
        throw error;
      }
      return { item, job, duplicate: false };
    });
    if (held) this.#holds.begin(answer.job, opened);
    else this.#runner.start(answer.job, opened);
    if (++this.#accepted % PRUNE_EVERY_JOBS === 0)
      void this.#prune().catch((error: unknown) =>
        this.#parts.log({ event: 'prune_failed', error: String(error) }),
      );
    return answer;
  }

  /** Jobs of the Tenant that wait, run, or are being paid for. */
  #unfinished(tenant: string): number {
    return this.#runner.sizeOf(tenant) + this.#holds.of(tenant).length;
  }

  /** What waits has its Segments and bytes still to be counted: at most so many files as a Tenant may have waiting. */
  #checkRoom(tenant: string, shard: IngestShard, upload: StagedUpload): void {
    const { itemsPerTenantMax, bytesPerTenantMax, segmentsPerTenantMax } = this.#parts.limits;
    const snapshot = shard.snapshot();
    try {
      const { segments, bytes, ...counted } = snapshot.counts();
      const items = counted.items + this.#unfinished(tenant);
      const room = items < itemsPerTenantMax && segments < segmentsPerTenantMax;
      if (room && bytes + upload.bytes <= bytesPerTenantMax) return;
      throw new FarthingError(
        'tenant_full',
        `An index takes at most ${itemsPerTenantMax} items, ${segmentsPerTenantMax} segments and ${bytesPerTenantMax} bytes.`,
        {
          facts: {
            items,
            segments,
            bytes,
            limit_items: itemsPerTenantMax,
            limit_segments: segmentsPerTenantMax,
            limit_bytes: bytesPerTenantMax,
          },
        },
      );
    } finally {
      snapshot.close();
    }
  }

  /** The Item with the same bytes, once no payment can make it vanish any more. */
  async #findDuplicate(tenant: string, { sha256 }: StagedUpload): Promise<IngestAnswer | undefined> {
    const deadline = performance.now() + this.#parts.limits.heldWaitSecondsMax * 1000;
    for (;;) {
      const item = await this.#inTenant(tenant, (shard) => shard.itemByDigest(sha256));
      if (!item) return undefined;
      const job = this.#jobs.get(jobOf(item.id));
      if (!job?.held || isEnded(job.state))
        return { item, job: job ?? endedJob(tenant, item), duplicate: true };
      const left = deadline - performance.now();
      if (left <= 0) {
        throw new FarthingError('overloaded', 'The same file is being paid for. Try again later.', {
          retryAfterS: RETRY_AFTER_S,
        });
      }
      await this.#holds.wait(job.id, left);
    }
  }

  async #resumeJob(job: Job): Promise<void> {
    const item = await this.#itemOf(job);
    if (!item) return this.#erase(job);
    if (job.held) return this.#holds.begin(job, undefined);
    // In a restored backup the row may be older than its Item by more than the last step.
    if (item.state === 'searchable') return this.#jobs.finish(job.id, item.segments);
    const attempts = (job.attempts ?? 0) + 1;
    if (item.state === 'failed' || attempts > this.#parts.limits.attemptsMax) {
      const detail = 'The server stopped while it worked on this file, each time it tried. Send it again.';
      return this.#runner.fail(job, new FarthingError('interrupted', detail));
    }
    this.#runner.start(await this.#jobs.restart(job.id, attempts));
  }

  async #cancelHeld(job: Job): Promise<void> {
    await this.#inTenant(job.tenant, (shard) => shard.removeItem(job.item));
    await removeFile(fileOf(this.#parts.tenants.folder(job.tenant), job.item));
    await this.#jobs.move(job.id, 'cancelled');
    this.#holds.end(job.id);
  }

  async #erase(job: Job): Promise<void> {
    await this.#inTenant(job.tenant, (shard) => shard.removeItem(job.item));
    await removeFile(fileOf(this.#parts.tenants.folder(job.tenant), job.item));
    await this.#jobs.remove(job.id);
  }

  #itemOf(job: Job): Promise<Item | undefined> {
    return this.#inTenant(job.tenant, (shard) => shard.item(job.item));
  }

  /** Undefined where the Tenant has no index (any more). */
  async #inTenant<T>(tenant: string, work: (shard: IngestShard) => Promise<T> | T): Promise<T | undefined> {
    try {
      return await this.#parts.tenants.use(tenant, {}, work);
    } catch (error) {
      if (errorCode(error) === 'not_found') return undefined;
      throw error;
    }
  }

  #existing(id: string): Job {
    const job = this.#jobs.get(id);
    if (!job) throw new FarthingError('job_not_found', 'No job has this id.');
    return job;
  }

  #prune(): Promise<void> {
    return this.#jobs.prune(this.#parts.clock.now() - this.#parts.limits.jobKeepHours * HOUR_MS);
  }
}

function pendingItem(upload: StagedUpload, opened: Opened, now: string, expiresAt: string | null): Item {
  const { pages, duration_s, width, height, title, notSearchable } = opened;
  return {
    id: newId('item'),
    name: upload.name,
    media_type: opened.mediaType,
    bytes: upload.bytes,
    sha256: upload.sha256,
    state: 'pending',
    families: [],
    segments: 0,
    created_at: now,
    expires_at: expiresAt,
    ...(title !== undefined && { title }),
    ...(pages !== undefined && { pages }),
    ...(duration_s !== undefined && { duration_s }),
    ...(notSearchable && { not_searchable: notSearchable }),
    ...(width !== undefined && { width }),
    ...(height !== undefined && { height }),
  };
}

/** What is to be said of a job whose row is no longer kept. */
function endedJob(tenant: string, item: Item): Job {
  return {
    id: jobOf(item.id),
    tenant,
    item: item.id,
    state: 'searchable',
    progress: 1,
    segments: item.segments,
    created_at: item.created_at,
    updated_at: item.created_at,
  };
}

function ended(job: Job): FarthingError {
  return new FarthingError('job_ended', `The job is ${job.state} already.`, { facts: { state: job.state } });
}
