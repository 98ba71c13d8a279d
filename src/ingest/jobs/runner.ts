import type { FileInfo } from '../../domain/document.ts';
import { FarthingError } from '../../domain/error.ts';
import { FairQueue } from '../../domain/fair-queue.ts';
import { isEnded, type Job } from '../../domain/job.ts';
import type { IngestTenants } from '../deps.ts';
import { fileOf } from '../files.ts';
import { indexFile, type MembersProgress } from '../members/member-work.ts';
import type { Unfinished } from '../quota.ts';
import { unlessOverloaded } from '../retry-overloaded.ts';
import { type JobEnds, stackOf } from './job-ends.ts';
import type { JobTable } from './job-table.ts';
import type { Progress, WorkDeps } from './work.ts';

export interface RunnerDeps extends WorkDeps {
  /** Those that are waited for: a job was admitted, and is not to fail because others are busy. */
  readonly tenants: IngestTenants;
  readonly jobs: JobTable;
  readonly ends: JobEnds;
  readonly log: (event: object) => void;
}

/** Shares of a job's progress at which its stages end. */
const EXTRACTED = 0.3;
const ENCODED = 0.95;

/** Why a job is stopped: it is cancelled and leaves nothing, or the server stops and it goes on at the next start. */
class Stopped extends Error {
  readonly cancelled: boolean;

  constructor(cancelled: boolean) {
    super(cancelled ? 'cancelled' : 'the server stops');
    this.cancelled = cancelled;
  }
}

interface Entry {
  readonly job: Job;
  readonly opened: FileInfo | undefined;
  readonly controller: AbortController;
  /** Set while it runs, or is cancelled before its turn. */
  running?: Promise<void>;
}

/** Runs jobs, a few at once, the Tenants in turn; one of them holds all places but one at most. */
export class JobRunner {
  readonly #parts: RunnerDeps;
  readonly #queue: FairQueue<Entry>;
  readonly #entries = new Map<string, Entry>();
  #running = 0;
  #closed = false;

  constructor(parts: RunnerDeps) {
    this.#parts = parts;
    this.#queue = new FairQueue({ tenantTakenMax: Math.max(1, parts.limits.jobsAtOnce - 1) });
  }

  /** Jobs that wait or run. */
  get size(): number {
    return this.#entries.size;
  }

  get runningCount(): number {
    return this.#running;
  }

  /** One Tenant's jobs. */
  of(tenant: string): Unfinished[] {
    return [...this.#entries.values()].flatMap(({ job, opened }) =>
      job.tenant === tenant ? [{ id: job.id, opened }] : [],
    );
  }

  has(id: string): boolean {
    return this.#entries.has(id);
  }

  /** Queues a job; `opened` saves opening its file again. A job that is queued already stays where it is. */
  start(job: Job, opened?: FileInfo): void {
    if (this.#closed || this.#entries.has(job.id)) return;
    const entry: Entry = { job, opened, controller: new AbortController() };
    this.#entries.set(job.id, entry);
    this.#queue.push(job.tenant, entry);
    this.#next();
  }

  /** Cancels a job that waits or runs; when it resolves, nothing of it is left but its row, or it had ended before. */
  async cancel(id: string): Promise<void> {
    const entry = this.#entries.get(id);
    if (!entry) return;
    if (this.#queue.remove(entry.job.tenant, entry))
      entry.running = this.#parts.ends.cancel(entry.job).finally(() => this.#entries.delete(id));
    else entry.controller.abort(new Stopped(true));
    await entry.running;
  }

  /** Stops what runs, to go on at the next start. */
  async close(): Promise<void> {
    this.#closed = true;
    const running = [...this.#entries.values()].filter((entry) => entry.running);
    for (const entry of running) entry.controller.abort(new Stopped(false));
    await Promise.allSettled(running.map((entry) => entry.running));
  }

  #next(): void {
    while (!this.#closed && this.#running < this.#parts.limits.jobsAtOnce) {
      const entry = this.#queue.take();
      if (!entry) return;
      this.#running++;
      entry.running = this.#run(entry).finally(() => {
        this.#running--;
        this.#queue.done(entry.job.tenant);
        this.#entries.delete(entry.job.id);
        this.#next();
      });
    }
  }

  /** Never rejects: what goes wrong ends in the job's row, or, when even that fails, in the log; the next start takes it up. */
  async #run(entry: Entry): Promise<void> {
    const { job } = entry;
    const { jobs, log } = this.#parts;
    const row = jobs.get(job.id);
    // Its end came while it was being accepted.
    if (!row || isEnded(row.state)) return;
    const began = performance.now();
    try {
      const segments = await this.#perform(entry).catch((error: unknown) => this.#endUndone(entry, error));
      if (segments === undefined) return;
      await jobs.move(job.id, 'searchable');
      log({ event: 'ingest_done', job: job.id, segments, ms: Math.round(performance.now() - began) });
    } catch (error) {
      log({ event: 'ingest_stuck', job: job.id, error: stackOf(error) });
    }
  }

  async #endUndone({ job, controller }: Entry, error: unknown): Promise<undefined> {
    const { reason } = controller.signal;
    if (!(reason instanceof Stopped)) await this.#parts.ends.fail(job, error);
    else if (reason.cancelled) await this.#parts.ends.cancel(job);
  }

  /** @returns how many Segments its Item has, which is searchable now. */
  async #perform({ job, opened, controller }: Entry): Promise<number> {
    const { tenants, jobs, extractor } = this.#parts;
    const { signal } = controller;
    const item = await tenants.use(job.tenant, {}, (shard) => shard.item(job.item));
    if (!item) throw new FarthingError('not_found', 'The item is gone.');
    await jobs.move(job.id, 'extracting');
    const path = fileOf(tenants.folder(job.tenant), job.item);
    const hint = { name: item.name, tenant: job.tenant };
    const known = opened ?? (await unlessOverloaded(() => extractor.open(path, hint), signal));
    signal.throwIfAborted();
    const { membersPerUploadMax: members, memberBytesPerUploadMax: bytes } = this.#parts.limits;
    const room = { members, bytes };
    const work = { tenant: job.tenant, item, path, opened: known, signal };
    const finished = await indexFile(this.#parts, work, 1, room, this.#progressOf(job, known));
    signal.throwIfAborted();
    const { segments } = finished.item;
    await jobs.move(job.id, 'committing', { progress: ENCODED, segments });
    await tenants.use(job.tenant, {}, (shard) => shard.append(finished.item, finished.segments));
    return segments;
  }

  /** A file's own reading and encoding, or, of an archive, the unpacking and the files in it, as one share of 0..1. */
  #progressOf(job: Job, { kind, members = 0 }: FileInfo): Progress & MembersProgress {
    const { jobs } = this.#parts;
    // A mail's own text is one among its attachments.
    const all = members + (kind === 'archive' ? 0 : 1);
    const own = kind === 'archive' ? 0 : 1 / all;
    let ownSegments = 0;
    const encoding = async (segments: number): Promise<void> => {
      if (jobs.get(job.id)?.state === 'extracting')
        await jobs.move(job.id, 'encoding', { progress: EXTRACTED, segments });
    };
    const note = (share: number, segments: number): void =>
      jobs.note(job.id, EXTRACTED + (ENCODED - EXTRACTED) * share, segments);
    return {
      extracting: (fraction) => jobs.note(job.id, fraction * EXTRACTED, 0),
      encodes: (segments) => {
        ownSegments = segments;
        return encoding(segments);
      },
      encoding: (fraction, segments) => note(fraction * own, segments),
      unpacked: (count) => {
        if (kind === 'archive') jobs.note(job.id, (count / all) * EXTRACTED, 0);
      },
      reads: () => encoding(ownSegments),
      read: (done, segments) => note(own + done / all, ownSegments + segments),
    };
  }
}
