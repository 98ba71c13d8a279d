import { type Clock, HOUR_MS } from '../domain/clock.ts';
import type { FileInfo } from '../domain/document.ts';
import { FarthingError } from '../domain/error.ts';
import type { JobId, TenantId } from '../domain/id.ts';
import type { Item } from '../domain/item.ts';
import { isEnded, type Job } from '../domain/job.ts';
import type { Address } from '../domain/payment.ts';
import type { Store } from '../state/store.ts';
import { Acceptance, type IngestAnswer } from './jobs/acceptance.ts';
import { JobsAwaitingPayment } from './jobs/awaiting-payment.ts';
import { JobEnds, stackOf } from './jobs/job-ends.ts';
import { JobTable } from './jobs/job-table.ts';
import { JobRunner } from './jobs/runner.ts';
import type {
  IngestEncoder,
  IngestExtractor,
  IngestLimits,
  IngestListening,
  IngestTenants,
  NewCredit,
  StagedUpload,
} from './ports/ports.ts';
import { tenantsWithRetry } from './ports/retry-overloaded.ts';

export interface IngestDeps {
  readonly tenants: IngestTenants;
  readonly extractor: IngestExtractor;
  readonly encoder: IngestEncoder;
  readonly listening?: IngestListening;
  readonly store: Store;
  readonly clock: Clock;
  /** When a Tenant's new Item will be disposed of (RFC 3339), or null. */
  readonly expiry: (tenant: TenantId) => string | null;
  readonly limits: IngestLimits;
  readonly newCredit: NewCredit;
  readonly log: (event: object) => void;
}

export type { IngestAnswer };

/** A released job; without its Item when the index has ended before: the job says how it ended, and its payer has a credit. */
export type ReleasedIngest = Omit<IngestAnswer, 'item'> & Partial<Pick<IngestAnswer, 'item'>>;

const RETRY_AFTER_S = 5;
const PRUNE_EVERY_JOBS = 1_000;

/** From a received file to a searchable Item: checks, keeps, queues, and tells how it goes. */
export class Ingest {
  readonly #deps: IngestDeps;
  readonly #jobs: JobTable;
  readonly #ends: JobEnds;
  readonly #runner: JobRunner;
  readonly #awaitingPayment: JobsAwaitingPayment;
  readonly #acceptance: Acceptance;
  /** For work that nobody can be told to try again later. */
  readonly #tenants: IngestTenants;
  readonly #closing = new AbortController();
  #accepted = 0;

  constructor(deps: IngestDeps) {
    this.#deps = deps;
    this.#jobs = new JobTable(deps.store, deps.clock);
    this.#tenants = tenantsWithRetry(deps.tenants, this.#closing.signal);
    const admitted = { ...deps, tenants: this.#tenants, jobs: this.#jobs };
    this.#ends = new JobEnds(admitted);
    this.#runner = new JobRunner({ ...admitted, ends: this.#ends });
    this.#awaitingPayment = new JobsAwaitingPayment();
    this.#acceptance = new Acceptance({
      ...deps,
      jobs: this.#jobs,
      awaitingPayment: this.#awaitingPayment,
      jobsOf: (tenant) => this.#runner.of(tenant),
      begin: (job, opened) => this.#runner.start(job, opened),
    });
  }

  /** Jobs that have not ended: those that wait for their turn, those that run, and those that a payment still holds. */
  depths(): { readonly queued: number; readonly running: number; readonly held: number } {
    const { size, runningCount } = this.#runner;
    return { queued: size - runningCount, running: runningCount, held: this.#awaitingPayment.size };
  }

  /**
   * Asked before money moves.
   * @throws overloaded when no job could be queued now; rate_limited when the Tenant has enough of them waiting.
   */
  admit(tenant: TenantId): void {
    this.#closing.signal.throwIfAborted();
    if (this.#runner.size + this.#awaitingPayment.size >= this.#deps.limits.jobsMax) {
      throw new FarthingError('overloaded', 'Too many files wait to be indexed. Try again later.', {
        retryAfterS: RETRY_AFTER_S,
      });
    }
    const { jobsPerTenantMax } = this.#deps.limits;
    if (this.#acceptance.unfinished(tenant).length >= jobsPerTenantMax) {
      throw new FarthingError(
        'rate_limited',
        `${jobsPerTenantMax} of your files wait to be indexed. Wait until some are done. Nothing was charged.`,
        { retryAfterS: RETRY_AFTER_S },
      );
    }
    this.#deps.encoder.admitIngest();
  }

  /**
   * Recognises, checks and opens a received file; nothing lasts of it. The same bytes in the Tenant's index, still
   * pending ones too, make it a duplicate; those that a payment still holds are waited for.
   * @throws what the extractor's `open` throws; tenant_full; overloaded.
   */
  async inspect(
    tenant: TenantId,
    upload: StagedUpload,
  ): Promise<{ opened: FileInfo } | { duplicate: IngestAnswer }> {
    const duplicate = await this.#acceptance.findDuplicate(tenant, upload);
    if (duplicate) return { duplicate };
    return { opened: await this.#deps.extractor.open(upload.path, { name: upload.name, tenant }) };
  }

  /**
   * Makes the upload the Tenant's: its file is moved, its Item pending, its job accepted, all durable. A held job waits
   * for `release`. @throws overloaded, tenant_full, storage_full.
   */
  async accept(
    tenant: TenantId,
    upload: StagedUpload,
    opened: FileInfo,
    options: { held: boolean; creditTo?: Address },
  ): Promise<IngestAnswer> {
    this.admit(tenant);
    const answer = await this.#acceptance.accept(tenant, upload, opened, options);
    if (++this.#accepted % PRUNE_EVERY_JOBS === 0)
      void this.#prune().catch((error: unknown) =>
        this.#deps.log({ event: 'prune_failed', error: String(error) }),
      );
    return answer;
  }

  /**
   * Starts a held job; once more changes nothing. Where the index has ended there is nothing to start, and the job comes to its end.
   * @throws job_not_found.
   */
  async release(jobId: JobId): Promise<ReleasedIngest> {
    let job = this.#existing(jobId);
    if (job.held) {
      job = await this.#jobs.change(jobId, { held: undefined });
      const opened = this.#awaitingPayment.end(jobId);
      if (!isEnded(job.state)) this.#runner.start(job, opened);
    }
    const item = await this.#itemOf(job);
    if (!item) await this.#endWithIndex(jobId);
    return { ...(item && { item }), job: this.#jobs.get(jobId) ?? job, duplicate: false };
  }

  /** Undoes a held job: Item, file and job vanish. A job that is unknown, or no longer held, stays as it is. */
  async withdraw(jobId: JobId): Promise<void> {
    const job = this.#jobs.get(jobId);
    if (!job?.held) return;
    await this.#erase(job);
    this.#awaitingPayment.end(jobId);
  }

  job(id: JobId): Job | undefined {
    return this.#jobs.shown(id);
  }

  /** The job again and again as it changes, until its end: see JobTable.watch. */
  watch(jobId: JobId, everyMs: number, signal: AbortSignal): AsyncGenerator<Job> {
    return this.#jobs.watch(jobId, everyMs, signal);
  }

  /** Ids of the jobs that wait for a payment: read at a start, when no request runs. */
  async heldJobs(): Promise<JobId[]> {
    const held: JobId[] = [];
    for await (const job of this.#jobs.all()) if (job.held) held.push(job.id);
    return held;
  }

  /** Resolves when the job ends, the milliseconds are over or the signal is aborted, with its state then. */
  waitFor(jobId: JobId, milliseconds: number, signal?: AbortSignal): Promise<Job | undefined> {
    return this.#jobs.waitFor(jobId, milliseconds, signal);
  }

  /** Cancels a job; nothing of it is left but its state. @throws job_not_found, job_ended, interrupted. */
  async cancel(jobId: JobId): Promise<Job> {
    const job = this.#existing(jobId);
    if (isEnded(job.state)) throw ended(job);
    await this.#end(job);
    const after = this.#existing(jobId);
    if (after.state === 'cancelled') return after;
    if (isEnded(after.state)) throw ended(after);
    throw new FarthingError('interrupted', 'The job could not be cancelled. Try again.', {
      retryAfterS: RETRY_AFTER_S,
    });
  }

  /** Cancels all jobs of a Tenant and waits for their end: before its disposal, which takes along what could not be undone. */
  async cancelTenant(tenant: TenantId): Promise<void> {
    const cancel = async (id: JobId): Promise<void> => {
      const job = this.#jobs.get(id);
      if (job && !isEnded(job.state)) await this.#orStuck(id, () => this.#end(job));
    };
    await Promise.all(this.#acceptance.unfinished(tenant).map(({ id }) => cancel(id)));
  }

  /**
   * At start, before the first request: jobs that the last end of the server interrupted run again, or fail after too
   * many attempts; held ones stay held, for the payment to decide; credits that are owed are given. What cannot be gone
   * on with (its index is damaged) is left for the next start.
   */
  async resume(): Promise<void> {
    for await (const { id } of this.#jobs.all()) await this.#orStuck(id, () => this.#resumeJob(id));
    await this.#prune();
  }

  /** From now on nobody waits for a job: whoever does, or watches one, has its state at once. The server stops. */
  stopWaiting(): void {
    this.#jobs.stopWaiting();
  }

  /** Stops; running jobs go on at the next start. */
  async close(): Promise<void> {
    this.#closing.abort(
      new FarthingError('interrupted', 'The server is stopping.', { retryAfterS: RETRY_AFTER_S }),
    );
    await this.#runner.close();
    this.stopWaiting();
  }

  /** The row is read here: payments that are still asked for release and withdraw jobs meanwhile. */
  async #resumeJob(id: JobId): Promise<void> {
    const before = this.#jobs.get(id);
    const item = before && !isEnded(before.state) ? await this.#itemOf(before) : undefined;
    const job = this.#jobs.get(id);
    if (!job || this.#runner.has(id)) return;
    if (isEnded(job.state)) return this.#ends.settleCredit(job);
    if (!item) return this.#resumeWithoutItem(job);
    if (job.held) return this.#awaitingPayment.begin(job, undefined);
    // In a restored backup the row may be older than its Item by more than the last step.
    if (item.state === 'searchable') return this.#jobs.finish(job.id, item.segments);
    const attempts = (job.attempts ?? 0) + 1;
    if (item.state === 'failed' || attempts > this.#deps.limits.attemptsMax) {
      const detail = 'The server stopped while it worked on this file, each time it tried. Send it again.';
      return this.#ends.fail(job, new FarthingError('interrupted', detail));
    }
    this.#runner.start(await this.#jobs.restart(job.id, attempts));
  }

  /** Its index has ended meanwhile, or the end of the server cut its acceptance short: then nobody knows of it. */
  #resumeWithoutItem(job: Job): Promise<void> {
    const isPaid = job.held || (job.creditTo !== undefined && !this.#deps.tenants.exists(job.tenant));
    return isPaid ? this.#ends.cancel(job) : this.#erase(job);
  }

  /** Cancels a job that has not ended, whoever has it. */
  async #end(job: Job): Promise<void> {
    if (this.#runner.has(job.id)) return this.#runner.cancel(job.id);
    await this.#ends.cancel(job);
    this.#awaitingPayment.end(job.id);
  }

  /** Ends a job whose index has ended, if it has not, and gives the credit that it owes. */
  async #endWithIndex(jobId: JobId): Promise<void> {
    await this.#runner.cancel(jobId);
    const job = this.#existing(jobId);
    if (isEnded(job.state)) await this.#ends.settleCredit(job);
    else await this.#ends.cancel(job);
  }

  /** One job's trouble is no other's. */
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

  #existing(id: JobId): Job {
    const job = this.#jobs.get(id);
    if (!job) throw new FarthingError('job_not_found', 'No job has this id.');
    return job;
  }

  #prune(): Promise<void> {
    return this.#jobs.prune(this.#deps.clock.now() - this.#deps.limits.jobKeepHours * HOUR_MS);
  }
}

function ended(job: Job): FarthingError {
  return new FarthingError('job_ended', `The job is ${job.state} already.`, { facts: { state: job.state } });
}
