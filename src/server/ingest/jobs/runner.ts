import type { FileInfo } from '@farthing/protocol/document';
import { FarthingError } from '@farthing/protocol/error';
import type { JobId, TenantId } from '@farthing/protocol/id';
import { isEnded, type Job } from '@farthing/protocol/job';
import type { Unfinished } from '../items/quota.ts';
import { FileIndexing, type MembersProgress } from '../members/file-indexing.ts';
import type { Replacing } from '../members/replacing.ts';
import type { ModelChanges } from '../model-changes.ts';
import type { IngestTenants, StoredFiles } from '../ports/ports.ts';
import { retryOverloaded } from '../ports/retry-overloaded.ts';
import type { Progress, ReadDeps } from '../segments/read-and-encode.ts';
import { type JobEnds, stackOf } from './job-ends.ts';
import type { JobLimits } from './job-limits.ts';
import type { JobTable } from './job-table.ts';

export interface RunnerDeps extends ReadDeps {
  /** With retries: an admitted job must not fail because the server is overloaded. */
  readonly tenants: IngestTenants;
  readonly files: StoredFiles;
  readonly jobs: JobTable;
  readonly ends: JobEnds;
  readonly replacing: Replacing;
  readonly jobLimits: JobLimits;
  /** Absent: indexes keep their models. */
  readonly models?: Pick<ModelChanges, 'keeping'> | undefined;
  readonly log: (event: object) => void;
}

/** Speed at which one processor encodes text: 1.5 kB in 48 ms (`ingest/processor_ms` in bench/record). */
const TEXT_BYTES_PER_SECOND = 30_000;
/** Progress of a job at the end of each stage. */
const EXTRACTED = 0.3;
const ENCODED = 0.95;

/** Why a job is stopped: `cancelled` leaves nothing of it; after `server-stops` it resumes at the next start. */
class JobStopped extends Error {
  readonly why: 'cancelled' | 'server-stops';

  constructor(why: 'cancelled' | 'server-stops') {
    super(why);
    this.why = why;
  }
}

interface QueuedJob {
  readonly job: Job;
  readonly info: FileInfo | undefined;
  /** Left over from a former process, whether begun or not. */
  readonly isResumed: boolean;
  readonly controller: AbortController;
  /** Set while it runs, or is cancelled before it ran. */
  running?: Promise<void>;
}

/** Runs the jobs of one store, in order. */
export class JobRunner {
  readonly #deps: RunnerDeps;
  readonly #entries = new Map<JobId, QueuedJob>();
  #running = 0;
  #closed = false;

  constructor(deps: RunnerDeps) {
    this.#deps = deps;
  }

  /** Jobs that wait or run. */
  get size(): number {
    return this.#entries.size;
  }

  get runningCount(): number {
    return this.#running;
  }

  *tenants(): Iterable<TenantId> {
    for (const { job } of this.#entries.values()) yield job.tenant;
  }

  ofTenant(tenant: TenantId): Unfinished[] {
    return [...this.#entries.values()].flatMap(({ job, info }) =>
      job.tenant === tenant ? [{ id: job.id, info }] : [],
    );
  }

  has(id: JobId): boolean {
    return this.#entries.has(id);
  }

  /** Queues a job; `info` saves opening its file again, `bytes` of a text allow an estimate of its duration. Queueing twice has no effect. */
  start(job: Job, info?: FileInfo, bytes?: number): void {
    this.#queue(job, info, false, secondsOf(info, bytes));
  }

  /** Queues a job of a former run of the server. It counts as an attempt once it begins. */
  resume(job: Job): void {
    this.#queue(job, undefined, true);
  }

  /** Cancels a job that waits or runs. When it resolves, only the job's row is left, or the job has ended otherwise. */
  async cancel(id: JobId): Promise<void> {
    const entry = this.#entries.get(id);
    if (!entry) return;
    entry.controller.abort(new JobStopped('cancelled'));
    entry.running ??= this.#deps.ends.cancel(entry.job).finally(() => this.#entries.delete(id));
    await entry.running;
  }

  /** Stops running jobs; they resume at the next start. */
  async close(): Promise<void> {
    this.#closed = true;
    const entries = [...this.#entries.values()];
    for (const { controller } of entries) controller.abort(new JobStopped('server-stops'));
    await Promise.allSettled(entries.map(({ running }) => running));
    this.#entries.clear();
  }

  #queue(job: Job, info: FileInfo | undefined, isResumed: boolean, seconds?: number): void {
    if (this.#closed || this.#entries.has(job.id)) return;
    const controller = new AbortController();
    const entry: QueuedJob = { job, info, isResumed, controller };
    this.#entries.set(job.id, entry);
    const { signal } = controller;
    // It rejects only if the job left the queue.
    this.#deps.jobLimits
      .run(job.tenant, () => this.#begin(entry), { seconds, signal })
      .catch(() => undefined);
  }

  #begin(entry: QueuedJob): Promise<void> {
    if (entry.controller.signal.aborted) return Promise.resolve();
    this.#running++;
    entry.running = this.#run(entry).finally(() => {
      this.#running--;
      this.#entries.delete(entry.job.id);
    });
    return entry.running;
  }

  /** Never rejects: a failure is written to the job's row or, if that fails, to the log; the next start retries the job. */
  async #run(entry: QueuedJob): Promise<void> {
    const { job } = entry;
    const { jobs, log } = this.#deps;
    const row = jobs.get(job.id);
    // It ended while it was being accepted.
    if (!row || isEnded(row.state)) return;
    const began = performance.now();
    try {
      if (entry.isResumed) await this.#countAttempt(entry);
      const { models } = this.#deps;
      const perform = () => this.#perform(entry);
      const segments = await (models ? models.keeping(job.tenant, perform) : perform()).catch(
        (error: unknown) => this.#endUnfinished(entry, error),
      );
      if (segments === undefined) return;
      await jobs.endSearchable(job.id);
      log({ event: 'ingest_done', job: job.id, segments, ms: Math.round(performance.now() - began) });
    } catch (error) {
      log({ event: 'ingest_stuck', job: job.id, error: stackOf(error) });
    }
  }

  /** Durable before the file is touched, so that a job that crashes the server each time is given up. No attempt if no reader can start. */
  async #countAttempt({ job, controller }: QueuedJob): Promise<void> {
    const { extractor, jobs } = this.#deps;
    await extractor.canOpen?.();
    if (!controller.signal.aborted) await jobs.restart(job.id);
  }

  /** Ends a job that was cancelled or has failed. One that the end of the server stopped stays as it is. */
  async #endUnfinished({ job, controller }: QueuedJob, error: unknown): Promise<undefined> {
    const { ends } = this.#deps;
    const { reason } = controller.signal;
    const why = reason instanceof JobStopped ? reason.why : 'failed';
    switch (why) {
      case 'failed':
        await ends.fail(job, error);
        return undefined;
      case 'cancelled':
        await ends.cancel(job);
        return undefined;
      case 'server-stops':
        return undefined;
    }
  }

  /** Makes the job's Item searchable. @returns the number of its Segments */
  async #perform({ job, info, controller }: QueuedJob): Promise<number> {
    const { tenants, files, jobs, extractor } = this.#deps;
    const { signal } = controller;
    const item = await tenants.use(job.tenant, {}, (shard) => shard.item(job.item));
    if (!item) throw new FarthingError('not_found', 'The item is gone.');
    await jobs.move(job.id, 'extracting');
    const path = await retryOverloaded(() => files.path(job.tenant, job.item), signal);
    const hint = { name: item.name, tenant: job.tenant };
    const known = info ?? (await retryOverloaded(() => extractor.open(path, hint), signal));
    signal.throwIfAborted();
    const work = { tenant: job.tenant, item, path, info: known, signal };
    const finished = await new FileIndexing(this.#deps).index(work, this.#progressOf(job, known));
    signal.throwIfAborted();
    const { segments, not_read } = finished.item;
    await jobs.move(job.id, 'committing', { progress: ENCODED, segments, not_read });
    await this.#deps.replacing.commit(job.tenant, finished.item, finished.segments);
    return segments;
  }

  /** One progress of 0..1 for reading and encoding a file, and for unpacking and indexing the files in it. */
  #progressOf(job: Job, { kind, members = 0 }: FileInfo): Progress & MembersProgress {
    const { jobs } = this.#deps;
    // The text of a mail counts like one more attachment.
    const parts = members + (kind === 'archive' ? 0 : 1);
    const textShare = kind === 'archive' ? 0 : 1 / parts;
    let textSegments = 0;
    const encoding = async (segments: number): Promise<void> => {
      if (jobs.get(job.id)?.state === 'extracting')
        await jobs.move(job.id, 'encoding', { progress: EXTRACTED, segments });
    };
    const setShare = (share: number, segments: number): void =>
      jobs.setProgress(job.id, EXTRACTED + (ENCODED - EXTRACTED) * share, segments);
    return {
      extracting: (fraction) => jobs.setProgress(job.id, fraction * EXTRACTED, 0),
      encodes: (segments) => {
        textSegments = segments;
        return encoding(segments);
      },
      encoding: (fraction, segments) => setShare(fraction * textShare, segments),
      unpacked: (count) => {
        if (kind === 'archive') jobs.setProgress(job.id, (count / parts) * EXTRACTED, 0);
      },
      reads: () => encoding(textSegments),
      read: (done, segments) => setShare(textShare + done / parts, textSegments + segments),
    };
  }
}

/** Estimated duration of a text; the size of any other file says nothing. */
function secondsOf(info: FileInfo | undefined, bytes: number | undefined): number | undefined {
  return info?.kind === 'text' && bytes !== undefined ? bytes / TEXT_BYTES_PER_SECOND : undefined;
}
