import type { Address } from '@farthing/protocol/address';
import { type Clock, HOUR_MS } from '@farthing/protocol/clock';
import type { FileInfo } from '@farthing/protocol/document';
import { FarthingError } from '@farthing/protocol/error';
import type { JobId, LeadsHere, TenantId } from '@farthing/protocol/id';
import { isEnded, type Job } from '@farthing/protocol/job';
import type { Item } from '@farthing/protocol/schema/items';
import { Owners } from '@farthing/queues/owners';
import type { Store } from '../state/store.ts';
import { filesIn } from './items/files.ts';
import { Acceptance, type IngestAnswer } from './jobs/acceptance.ts';
import { JobsAwaitingPayment } from './jobs/awaiting-payment.ts';
import { JobEnds, stackOf } from './jobs/job-ends.ts';
import { JobLimits } from './jobs/job-limits.ts';
import { JobTable } from './jobs/job-table.ts';
import { JobRunner } from './jobs/runner.ts';
import { Replacing } from './members/replacing.ts';
import type { ModelChanges } from './model-changes.ts';
import type { IngestLimits } from './ports/limits.ts';
import type {
  IngestEncoder,
  IngestExtractor,
  IngestListening,
  IngestTenants,
  NewCredit,
  StagedUpload,
  StoredFiles,
} from './ports/ports.ts';
import { tenantsWithRetry } from './ports/retry-overloaded.ts';

export interface IngestDeps {
  readonly tenants: IngestTenants;
  /** Absent: files are only in the Tenants' folders. */
  readonly files?: StoredFiles;
  readonly extractor: IngestExtractor;
  readonly encoder: IngestEncoder;
  readonly listening?: IngestListening;
  /** Changes the models of indexes; absent: they keep theirs. */
  readonly models?: Pick<ModelChanges, 'keeping' | 'close'>;
  readonly store: Store;
  readonly clock: Clock;
  /** RFC 3339: when a Tenant's new Item will be disposed of, or null. */
  readonly expiry: (tenant: TenantId) => string | null;
  readonly limits: IngestLimits;
  /** Shared with the process's other stores; absent: its own. */
  readonly jobLimits?: JobLimits;
  /** Whether an id belongs to this store; absent: every id does. */
  readonly leadsHere?: LeadsHere;
  readonly newCredit: NewCredit;
  readonly log: (event: object) => void;
}

export type { IngestAnswer };

/** A released job. The Item is absent if the index was disposed of first: then the job has ended, and its payer has a credit. */
export type ReleasedIngest = Omit<IngestAnswer, 'item'> & Partial<Pick<IngestAnswer, 'item'>>;

const RETRY_AFTER_S = 5;
const PRUNE_EVERY_JOBS = 1_000;

/** Turns received files into searchable Items: checks and stores them, queues their jobs, reports progress. */
export class Ingest {
  readonly #deps: IngestDeps;
  readonly #jobs: JobTable;
  readonly #ends: JobEnds;
  readonly #replacing: Replacing;
  readonly #jobLimits: JobLimits;
  readonly #runner: JobRunner;
  readonly #awaitingPayment: JobsAwaitingPayment;
  readonly #acceptance: Acceptance;
  /** With retries, for work that has no client to try again. */
  readonly #tenants: IngestTenants;
  readonly #closing = new AbortController();
  readonly #leaveLimits: () => void;
  #accepted = 0;

  constructor(deps: IngestDeps) {
    this.#deps = deps;
    this.#jobs = new JobTable(deps.store, deps.clock);
    this.#tenants = tenantsWithRetry(deps.tenants, this.#closing.signal);
    const { extractor, encoder, listening, limits, clock, expiry, newCredit, log } = deps;
    const { files = filesIn(deps.tenants), leadsHere = () => true } = deps;
    const stored = { files, jobs: this.#jobs };
    this.#replacing = new Replacing({ files, tenants: this.#tenants });
    this.#ends = new JobEnds({ ...stored, tenants: this.#tenants, newCredit, log });
    this.#jobLimits = deps.jobLimits ?? new JobLimits(limits.jobsAtOnce, new Owners());
    this.#runner = new JobRunner({
      ...stored,
      tenants: this.#tenants,
      extractor,
      encoder,
      limits,
      listening,
      models: deps.models,
      ends: this.#ends,
      replacing: this.#replacing,
      jobLimits: this.#jobLimits,
      log,
    });
    this.#awaitingPayment = new JobsAwaitingPayment();
    this.#leaveLimits = this.#jobLimits.join(() => [
      ...this.#runner.tenants(),
      ...this.#awaitingPayment.tenants(),
    ]);
    this.#acceptance = new Acceptance({
      ...stored,
      tenants: deps.tenants,
      clock,
      expiry,
      limits,
      leadsHere,
      awaitingPayment: this.#awaitingPayment,
      jobsOf: (tenant) => this.#runner.ofTenant(tenant),
      start: (job, info, bytes) => this.#runner.start(job, info, bytes),
    });
  }

  /** Unfinished jobs: waiting, running, and awaiting payment. */
  depths(): { readonly queued: number; readonly running: number; readonly held: number } {
    const { size, runningCount } = this.#runner;
    return { queued: size - runningCount, running: runningCount, held: this.#awaitingPayment.size };
  }

  /**
   * Called before money moves.
   * @throws overloaded when the queue has no room for another job of its owner; rate_limited when the Tenant has too many unfinished jobs.
   */
  admit(tenant: TenantId): void {
    this.#closing.signal.throwIfAborted();
    const { jobsPerTenantMax, jobsMax } = this.#deps.limits;
    this.#jobLimits.refuseBeyond(tenant, jobsMax);
    if (this.#acceptance.unfinished(tenant).length >= jobsPerTenantMax) {
      throw new FarthingError(
        'rate_limited',
        `${jobsPerTenantMax} of your files are already waiting to be indexed. Wait until some are done. Nothing was charged.`,
        { retryAfterS: RETRY_AFTER_S },
      );
    }
    this.#deps.encoder.admitIngest(tenant);
  }

  /**
   * Recognises, checks and opens a received file. Stores nothing. Bytes that the Tenant already has, pending or searchable,
   * make it a duplicate; if the same bytes are awaiting payment, it waits for the outcome. With a key only its Item counts.
   * @param signal aborted when its sender leaves: the file is given up unless it is already being opened
   * @throws what the extractor's `open` throws; precondition_failed; overloaded.
   */
  async inspect(
    tenant: TenantId,
    upload: StagedUpload,
    signal?: AbortSignal,
  ): Promise<{ info: FileInfo } | { duplicate: IngestAnswer }> {
    const duplicate = await this.#acceptance.findDuplicate(tenant, upload);
    if (duplicate) return { duplicate };
    return { info: await this.#deps.extractor.open(upload.path, { name: upload.name, tenant, signal }) };
  }

  /**
   * Stores the upload: its file is moved, its Item pending and its job accepted, all durable. A held job waits for `release`.
   * @throws overloaded, rate_limited, tenant_full, storage_full.
   */
  async accept(
    tenant: TenantId,
    upload: StagedUpload,
    info: FileInfo,
    options: { held: boolean; creditTo?: Address },
  ): Promise<IngestAnswer> {
    this.admit(tenant);
    const answer = await this.#acceptance.accept(tenant, upload, info, options);
    if (++this.#accepted % PRUNE_EVERY_JOBS === 0)
      void this.#prune().catch((error: unknown) =>
        this.#deps.log({ event: 'prune_failed', error: String(error) }),
      );
    return answer;
  }

  /** Starts a job that awaited payment; ends it if the Tenant's index was disposed of. Idempotent. @throws job_not_found. */
  async release(jobId: JobId): Promise<ReleasedIngest> {
    let job = this.existing(jobId);
    if (job.held) {
      job = await this.#jobs.change(jobId, { held: undefined });
      const info = this.#awaitingPayment.remove(jobId);
      if (!isEnded(job.state)) this.#runner.start(job, info, (await this.#itemOf(job))?.bytes);
    }
    const item = await this.#itemOf(job);
    if (!item) await this.#endWithIndex(jobId);
    return { ...(item && { item }), job: this.#jobs.get(jobId) ?? job, duplicate: false };
  }

  /** Removes a held job with its Item and file. Does nothing to a job that is unknown or no longer held. */
  async withdraw(jobId: JobId): Promise<void> {
    const job = this.#jobs.get(jobId);
    if (!job?.held) return;
    await this.#erase(job);
    this.#awaitingPayment.remove(jobId);
  }

  job(id: JobId): Job | undefined {
    return this.#jobs.shown(id);
  }

  /** @throws job_not_found */
  existing(id: JobId): Job {
    const job = this.#jobs.get(id);
    if (!job) throw new FarthingError('job_not_found', 'No job has this id.');
    return job;
  }

  /** The job after each change, until its end: see `JobTable.watch`. */
  watch(jobId: JobId, everyMs: number, signal: AbortSignal): AsyncGenerator<Job> {
    return this.#jobs.watch(jobId, everyMs, signal);
  }

  /** Jobs that await payment. Read at a start, before any request. */
  async heldJobs(): Promise<JobId[]> {
    const held: JobId[] = [];
    for await (const job of this.#jobs.all()) if (job.held) held.push(job.id);
    return held;
  }

  /** The job once it ends, the time is up, or the signal is aborted. */
  waitFor(jobId: JobId, milliseconds: number, signal?: AbortSignal): Promise<Job | undefined> {
    return this.#jobs.waitFor(jobId, milliseconds, signal);
  }

  /** Cancels a job: only its row stays. @throws job_not_found, job_ended, interrupted. */
  async cancel(jobId: JobId): Promise<Job> {
    const job = this.existing(jobId);
    if (isEnded(job.state)) throw ended(job);
    await this.#end(job);
    const after = this.existing(jobId);
    if (after.state === 'cancelled') return after;
    if (isEnded(after.state)) throw ended(after);
    throw new FarthingError('interrupted', 'The job could not be cancelled. Try again.', {
      retryAfterS: RETRY_AFTER_S,
    });
  }

  /** Cancels all jobs of a Tenant and waits for their end. The disposal that follows removes what could not be undone. */
  async cancelTenant(tenant: TenantId): Promise<void> {
    const cancel = async (id: JobId): Promise<void> => {
      const job = this.#jobs.get(id);
      if (job && !isEnded(job.state)) await this.#orStuck(id, () => this.#end(job));
    };
    await Promise.all(this.#acceptance.unfinished(tenant).map(({ id }) => cancel(id)));
  }

  /**
   * At start, before the first request: interrupted jobs run again, or fail after too many attempts; held jobs stay held until
   * their payment's outcome is known; owed credits are given. A job whose index is damaged is left to the next start.
   */
  async resume(): Promise<void> {
    for await (const { id } of this.#jobs.all()) await this.#orStuck(id, () => this.#resumeJob(id));
    await this.#prune();
  }

  /** The server stops: every wait for a job, and every watch, ends with the state as it is. */
  stopWaiting(): void {
    this.#jobs.stopWaiting();
  }

  /** Stops. Running jobs resume at the next start. */
  async close(): Promise<void> {
    this.#closing.abort(
      new FarthingError('interrupted', 'The server is stopping.', { retryAfterS: RETRY_AFTER_S }),
    );
    await this.#runner.close();
    await this.#deps.models?.close();
    this.#leaveLimits();
    this.stopWaiting();
  }

  /** Reads the row itself, since recovered payments release and withdraw jobs at the same time. */
  async #resumeJob(id: JobId): Promise<void> {
    const before = this.#jobs.get(id);
    const item = before && !isEnded(before.state) ? await this.#itemOf(before) : undefined;
    const job = this.#jobs.get(id);
    if (!job || this.#runner.has(id)) return;
    if (isEnded(job.state)) return this.#ends.giveOwedCredit(job);
    if (!item) return this.#resumeWithoutItem(job);
    if (job.held) return this.#awaitingPayment.add(job, undefined);
    // In a restored backup the Item may be several steps ahead of the row.
    if (item.state === 'searchable') {
      await this.#replacing.clear(job.tenant, item);
      return this.#jobs.finish(job.id, item);
    }
    if (item.state === 'failed' || (job.attempts ?? 0) >= this.#deps.limits.attemptsMax) {
      const detail = 'The server stopped while it worked on this file, each time it tried. Send it again.';
      return this.#ends.fail(job, new FarthingError('interrupted', detail));
    }
    this.#runner.resume(job);
  }

  /** The Tenant's index was disposed of, or a crash cut the acceptance short and no client knows the job. */
  #resumeWithoutItem(job: Job): Promise<void> {
    const isPaid = job.held || (job.creditTo !== undefined && !this.#deps.tenants.exists(job.tenant));
    return isPaid ? this.#ends.cancel(job) : this.#erase(job);
  }

  /** Cancels an unfinished job, whether it is queued, running, or awaiting payment. */
  async #end(job: Job): Promise<void> {
    if (this.#runner.has(job.id)) return this.#runner.cancel(job.id);
    await this.#ends.cancel(job);
    this.#awaitingPayment.remove(job.id);
  }

  /** Ends a job whose index was disposed of, and gives the credit that it owes. */
  async #endWithIndex(jobId: JobId): Promise<void> {
    await this.#runner.cancel(jobId);
    const job = this.existing(jobId);
    if (isEnded(job.state)) await this.#ends.giveOwedCredit(job);
    else await this.#ends.cancel(job);
  }

  /** Logs a failure, so that one job does not stop the others. */
  async #orStuck(job: JobId, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#deps.log({ event: 'ingest_stuck', job, error: stackOf(error) });
    }
  }

  async #erase(job: Job): Promise<void> {
    await this.#ends.undo(job);
    await this.#jobs.remove(job.id);
  }

  #itemOf(job: Job): Promise<Item | undefined> {
    return this.#tenants.useIfThere(job.tenant, (shard) => shard.item(job.item));
  }

  #prune(): Promise<void> {
    return this.#jobs.prune(this.#deps.clock.now() - this.#deps.limits.jobKeepHours * HOUR_MS);
  }
}

function ended(job: Job): FarthingError {
  return new FarthingError('job_ended', `The job is ${job.state} already.`, { facts: { state: job.state } });
}
