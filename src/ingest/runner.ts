import type { Opened } from '../domain/document.ts';
import { errorCode, FarthingError, toFarthingError } from '../domain/error.ts';
import { movedItem } from '../domain/item.ts';
import type { Job } from '../domain/job.ts';
import type { Address } from '../domain/payment.ts';
import { fileOf, isStorageFull, removeFile } from './files.ts';
import type { JobTable } from './job-table.ts';
import { indexFile, type MembersProgress } from './member-work.ts';
import { removeMembers } from './members.ts';
import type { IngestTenants, NewCredit } from './parts.ts';
import { TurnQueue } from './turns.ts';
import type { Progress, WorkParts } from './work.ts';

export interface RunnerParts extends WorkParts {
  readonly tenants: IngestTenants;
  readonly jobs: JobTable;
  readonly newCredit: NewCredit;
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
  readonly opened: Opened | undefined;
  readonly controller: AbortController;
  /** Set while it runs. */
  running?: Promise<void>;
}

/** Runs jobs, a few at once, the Tenants in turn. */
export class JobRunner {
  readonly #parts: RunnerParts;
  readonly #turns = new TurnQueue<Entry>();
  readonly #entries = new Map<string, Entry>();
  #running = 0;
  #closed = false;

  constructor(parts: RunnerParts) {
    this.#parts = parts;
  }

  /** Jobs that wait or run. */
  get size(): number {
    return this.#entries.size;
  }

  get runningCount(): number {
    return this.#running;
  }

  /** Ids of one Tenant's jobs. */
  of(tenant: string): string[] {
    return [...this.#entries.values()].flatMap(({ job }) => (job.tenant === tenant ? [job.id] : []));
  }

  has(id: string): boolean {
    return this.#entries.has(id);
  }

  /** Queues a job; `opened` saves opening its file again. A job that is queued already stays where it is. */
  start(job: Job, opened?: Opened): void {
    if (this.#closed || this.#entries.has(job.id)) return;
    const entry: Entry = { job, opened, controller: new AbortController() };
    this.#entries.set(job.id, entry);
    this.#turns.push(job.tenant, entry);
    this.#next();
  }

  /** Cancels a job that waits or runs; when it resolves, nothing of it is left but its row. */
  async cancel(id: string): Promise<void> {
    const entry = this.#entries.get(id);
    if (!entry) return;
    if (this.#turns.remove(entry.job.tenant, entry)) {
      await this.#endCancelled(entry.job);
      this.#entries.delete(id);
      return;
    }
    entry.controller.abort(new Stopped(true));
    await entry.running;
  }

  async cancelTenant(tenant: string): Promise<void> {
    const own = [...this.#entries.values()].filter((entry) => entry.job.tenant === tenant);
    await Promise.all(own.map((entry) => this.cancel(entry.job.id)));
  }

  /** Stops what runs, to go on at the next start. */
  async close(): Promise<void> {
    this.#closed = true;
    const running = [...this.#entries.values()].filter((entry) => entry.running);
    for (const entry of running) entry.controller.abort(new Stopped(false));
    await Promise.all(running.map((entry) => entry.running));
  }

  /** Ends a job as failed: its file goes, its Item says so, its payer has a credit. */
  async fail(job: Job, cause: unknown): Promise<void> {
    const { tenants, jobs, log } = this.#parts;
    const error = isStorageFull(cause)
      ? new FarthingError('storage_full', 'The disk is full.', { cause })
      : toFarthingError(cause);
    log({
      event: 'ingest_failed',
      job: job.id,
      code: error.code,
      ...(error.code === 'internal' && { error: stackOf(cause) }),
    });
    await ifTenantLives(() =>
      tenants.use(job.tenant, {}, async (shard) => {
        const item = shard.item(job.item);
        if (!item) return;
        await removeMembers(shard, tenants.folder(job.tenant), item);
        await shard.putItem(movedItem(item, 'failed'));
      }),
    );
    await removeFile(fileOf(tenants.folder(job.tenant), job.item));
    await this.settleCredit(
      await jobs.move(job.id, 'failed', { error: { code: error.code, detail: error.detail } }),
    );
  }

  /** Gives the credit that a failed job owes; the row owes it until it is given, a crash between notwithstanding. */
  async settleCredit(job: Job): Promise<void> {
    if (job.creditTo === undefined) return;
    await this.#parts.newCredit(job.creditTo as Address, job.id);
    await this.#parts.jobs.change(job.id, { creditTo: undefined });
  }

  #next(): void {
    while (!this.#closed && this.#running < this.#parts.limits.jobsAtOnce) {
      const entry = this.#turns.take();
      if (!entry) return;
      this.#running++;
      entry.running = this.#run(entry).finally(() => {
        this.#running--;
        this.#entries.delete(entry.job.id);
        this.#next();
      });
    }
  }

  /** Never rejects: what goes wrong ends in the job's row, or, when even that fails, in the log; the next start takes it up. */
  async #run(entry: Entry): Promise<void> {
    const { job, controller } = entry;
    try {
      await this.#perform(entry);
    } catch (error) {
      const { reason } = controller.signal;
      try {
        if (reason instanceof Stopped && !reason.cancelled) return;
        if (reason instanceof Stopped || isTenantGone(error)) await this.#endCancelled(job);
        else await this.fail(job, error);
      } catch (second) {
        this.#parts.log({ event: 'ingest_stuck', job: job.id, error: stackOf(second) });
      }
    }
  }

  async #perform({ job, opened, controller }: Entry): Promise<void> {
    const { tenants, jobs, log } = this.#parts;
    const { signal } = controller;
    const began = performance.now();
    const item = await tenants.use(job.tenant, {}, (shard) => shard.item(job.item));
    if (!item) throw new FarthingError('not_found', 'The item is gone.');
    await jobs.move(job.id, 'extracting');
    const path = fileOf(tenants.folder(job.tenant), job.item);
    const known = opened ?? (await this.#parts.extractor.open(path, { name: item.name, tenant: job.tenant }));
    signal.throwIfAborted();
    const { membersPerUploadMax: members, memberBytesPerUploadMax: bytes } = this.#parts.limits;
    const room = { members, bytes };
    const work = { tenant: job.tenant, item, path, opened: known, signal };
    const finished = await indexFile(this.#parts, work, 1, room, this.#progressOf(job, known));
    signal.throwIfAborted();
    const { segments } = finished.item;
    await jobs.move(job.id, 'committing', { progress: ENCODED, segments });
    await tenants.use(job.tenant, {}, (shard) => shard.append(finished.item, finished.segments));
    await jobs.move(job.id, 'searchable');
    log({
      event: 'ingest_done',
      job: job.id,
      segments,
      ms: Math.round(performance.now() - began),
    });
  }

  /** A file's own reading and encoding, or, of an archive, the unpacking and the files in it, as one share of 0..1. */
  #progressOf(job: Job, { kind, members = 0 }: Opened): Progress & MembersProgress {
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

  async #endCancelled(job: Job): Promise<void> {
    const { tenants, jobs } = this.#parts;
    await ifTenantLives(() =>
      tenants.use(job.tenant, {}, async (shard) => {
        const item = shard.item(job.item);
        if (item) await removeMembers(shard, tenants.folder(job.tenant), item);
        await shard.removeItem(job.item);
      }),
    );
    await removeFile(fileOf(tenants.folder(job.tenant), job.item));
    await jobs.move(job.id, 'cancelled');
  }
}

/** A Tenant that is being disposed of takes all of its content with it. */
async function ifTenantLives(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isTenantGone(error)) throw error;
  }
}

function isTenantGone(error: unknown): boolean {
  return errorCode(error) === 'not_found';
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
