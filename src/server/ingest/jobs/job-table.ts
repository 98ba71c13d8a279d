import { setTimeout as pause } from 'node:timers/promises';
import { type Clock, toTimestamp } from '@farthing/protocol/clock';
import type { JobId } from '@farthing/protocol/id';
import { isEnded, type Job, type JobState, jobMayPass, owesCredit } from '@farthing/protocol/job';
import type { Store, Table } from '../../state/store.ts';

/** Rows read between two yields to the event loop. */
const ROWS_PER_TURN = 500;

/**
 * The jobs. A job's beginning and end are durable before they are visible; a searchable Item's end is durable in its index. Stages in
 * between, and progress, stay in memory: an interrupted job begins again. Notifies waiters and watchers of changes.
 */
export class JobTable {
  readonly #store: Store;
  readonly #rows: Table<Job>;
  readonly #clock: Clock;
  /** Newer fields of running jobs than their rows have: state and progress. */
  readonly #running = new Map<JobId, Partial<Job>>();
  readonly #waiters = new Map<JobId, Set<() => void>>();
  /** Called at every change, progress included. */
  readonly #watchers = new Map<JobId, Set<() => void>>();
  readonly #pace = new Pace();
  #closed = false;

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#rows = store.table<Job>('jobs');
    this.#clock = clock;
  }

  get(id: JobId): Job | undefined {
    const row = this.#rows.get(id);
    return row && { ...row, ...this.#running.get(id) };
  }

  /** The job, with an estimate of the time left. */
  shown(id: JobId): Job | undefined {
    const job = this.get(id);
    const time_left_s = job && this.#pace.secondsLeft(id, job.progress);
    return job && { ...job, ...(time_left_s !== undefined && { time_left_s }) };
  }

  /** Writes a new job. @throws Error when the id is taken. */
  async create(
    job: Omit<Job, 'state' | 'progress' | 'segments' | 'created_at' | 'updated_at'>,
  ): Promise<Job> {
    const now = toTimestamp(this.#clock.now());
    const row: Job = {
      ...job,
      state: 'accepted',
      progress: 0,
      segments: 0,
      created_at: now,
      updated_at: now,
    };
    if (!(await this.#rows.putIfAbsent(row.id, row))) throw new Error(`job ${row.id} exists`);
    return row;
  }

  /** Moves a job to another state; its end is durable then. @throws Error for a step that is not allowed. */
  async move(
    id: JobId,
    state: JobState,
    changes: Partial<Pick<Job, 'error' | 'not_read' | 'progress' | 'segments'>> = {},
  ): Promise<Job> {
    const done = state === 'searchable' ? { progress: 1 } : {};
    const step = (job: Job): Job => {
      if (!jobMayPass(job.state, state))
        throw new Error(`job ${id} may not go from ${job.state} to ${state}`);
      return { ...job, ...changes, ...done, state };
    };
    if (isEnded(state)) return await this.#write(id, step);
    const moved = { ...step(this.#existing(id)), updated_at: toTimestamp(this.#clock.now()) };
    const { progress, segments, updated_at, not_read } = moved;
    this.#running.set(id, { state, progress, segments, updated_at, ...(not_read && { not_read }) });
    if (state === 'extracting') this.#pace.begin(id);
    this.#notify(id);
    return moved;
  }

  /**
   * Ends a job whose Item is searchable on the disk. Its end is reported first and written afterwards: a start that finds the Item
   * without it writes it (`finish`).
   */
  async endSearchable(id: JobId): Promise<void> {
    const job = this.#existing(id);
    if (!jobMayPass(job.state, 'searchable')) throw new Error(`job ${id} may not end from ${job.state}`);
    this.#running.set(id, { ...this.#running.get(id), state: 'searchable', progress: 1 });
    this.#tellEnd(id);
    await this.#write(id, (job) => job);
  }

  /** Takes a job through its remaining states, because its Item is already searchable. */
  async finish(id: JobId, { segments, not_read }: Pick<Job, 'segments' | 'not_read'>): Promise<void> {
    for (const state of ['extracting', 'encoding', 'committing', 'searchable'] as const) {
      const job = this.get(id);
      if (job && jobMayPass(job.state, state)) await this.move(id, state, { segments, not_read });
    }
  }

  /** Counts an attempt at a job that the end of the server interrupted: it begins anew. */
  restart(id: JobId): Promise<Job> {
    return this.#write(id, (job) => ({
      ...job,
      state: 'accepted',
      progress: 0,
      segments: 0,
      attempts: (job.attempts ?? 0) + 1,
    }));
  }

  /** Writes fields other than the state; only `restart` writes the first state again. Undefined removes a field. */
  change(id: JobId, changes: Partial<Job>): Promise<Job> {
    return this.#write(id, (job) => {
      const kept = Object.entries({ ...job, ...changes }).filter(([, value]) => value !== undefined);
      return Object.fromEntries(kept) as unknown as Job;
    });
  }

  /** Sets the progress of a running job. */
  setProgress(id: JobId, progress: number, segments: number): void {
    this.#running.set(id, { ...this.#running.get(id), progress, segments });
    this.#notify(id);
  }

  async remove(id: JobId): Promise<void> {
    await this.#rows.remove(id);
    this.#ended(id);
  }

  /** All rows, in no particular order. */
  async *all(): AsyncGenerator<Job> {
    let after = '';
    for (;;) {
      const rows = [...this.#rows.range({ start: after, limit: ROWS_PER_TURN })];
      for (const { value } of rows) yield value;
      const last = rows.at(-1);
      if (rows.length < ROWS_PER_TURN || !last) return;
      // The next key in the order of bytes.
      after = `${last.key}\u0001`;
      await new Promise(setImmediate);
    }
  }

  /** Removes jobs that ended before a time (milliseconds since the epoch), owe no credit, and await no payment. */
  async prune(before: number): Promise<void> {
    const limit = toTimestamp(before);
    for await (const job of this.all()) {
      const isDone = isEnded(job.state) && !job.held && !owesCredit(job);
      if (isDone && job.updated_at < limit) await this.#rows.remove(job.id);
    }
  }

  /** The job once it ends, the time is up, or the signal is aborted. */
  async waitFor(id: JobId, milliseconds: number, signal?: AbortSignal): Promise<Job | undefined> {
    const job = this.get(id);
    if (!job || isEnded(job.state) || milliseconds <= 0 || signal?.aborted || this.#closed) return job;
    await new Promise<void>((resolve) => {
      const waiters = this.#waiters.get(id) ?? new Set();
      this.#waiters.set(id, waiters);
      const wake = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', wake);
        waiters.delete(wake);
        if (waiters.size === 0) this.#waiters.delete(id);
        resolve();
      };
      const timer = setTimeout(wake, milliseconds);
      signal?.addEventListener('abort', wake, { once: true });
      waiters.add(wake);
    });
    return this.shown(id);
  }

  /**
   * The job now and after each change, at most once every `everyMs` milliseconds. It ends with the job's end, or when the row
   * is removed, the signal is aborted, or the server stops.
   */
  async *watch(id: JobId, everyMs: number, signal: AbortSignal): AsyncGenerator<Job> {
    let wake = (): void => undefined;
    let changed = true;
    const onChange = (): void => {
      changed = true;
      wake();
    };
    const watchers = this.#watchers.get(id) ?? new Set();
    this.#watchers.set(id, watchers.add(onChange));
    signal.addEventListener('abort', onChange);
    try {
      for (;;) {
        const job = this.shown(id);
        if (!job || signal.aborted || this.#closed) return;
        const isNew = changed;
        changed = false;
        if (isNew) yield job;
        if (isEnded(job.state)) return;
        await pause(everyMs, undefined, { signal }).catch(() => undefined);
        if (changed) continue;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    } finally {
      signal.removeEventListener('abort', onChange);
      watchers.delete(onChange);
      if (watchers.size === 0) this.#watchers.delete(id);
    }
  }

  /** The server stops: all waits end, and later ones end at once. */
  stopWaiting(): void {
    this.#closed = true;
    for (const id of [...this.#watchers.keys()]) this.#notify(id);
    for (const id of [...this.#waiters.keys()]) this.#wake(id);
  }

  /** Changes the row in a transaction, since a payment and the Tenant's end may change a job at the same time. */
  async #write(id: JobId, change: (job: Job) => Job): Promise<Job> {
    const { row, written } = await this.#store.transaction(() => {
      const written = this.#running.get(id);
      const row = { ...change(this.#existing(id)), updated_at: toTimestamp(this.#clock.now()) };
      void this.#rows.put(id, row);
      return { row, written };
    });
    // Changes during the write stay newer than the row.
    if (this.#running.get(id) === written) this.#running.delete(id);
    if (isEnded(row.state)) this.#ended(row.id);
    else this.#notify(row.id);
    return row;
  }

  #existing(id: JobId): Job {
    const job = this.get(id);
    if (!job) throw new Error(`job ${id} does not exist`);
    return job;
  }

  #notify(id: JobId): void {
    for (const notify of [...(this.#watchers.get(id) ?? [])]) notify();
  }

  #ended(id: JobId): void {
    this.#running.delete(id);
    this.#tellEnd(id);
  }

  #tellEnd(id: JobId): void {
    this.#pace.end(id);
    this.#notify(id);
    this.#wake(id);
  }

  #wake(id: JobId): void {
    for (const wake of [...(this.#waiters.get(id) ?? [])]) wake();
  }
}

/** No estimate until this many seconds have passed. */
const SECONDS_MIN = 0.5;
/** No estimate before this share of the work is done. */
const SHARE_MIN = 0.02;

/** Estimates the time left of running jobs. */
class Pace {
  /** When each job began, in milliseconds. */
  readonly #began = new Map<JobId, number>();
  readonly #now: () => number;

  /** @param now milliseconds from any origin, never going back */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  begin(id: JobId): void {
    this.#began.set(id, this.#now());
  }

  end(id: JobId): void {
    this.#began.delete(id);
  }

  /** Whole seconds left if the rest takes as long as the share that is done; undefined while an estimate would be a guess. */
  secondsLeft(id: JobId, share: number): number | undefined {
    const began = this.#began.get(id);
    if (began === undefined || share < SHARE_MIN) return undefined;
    const seconds = (this.#now() - began) / 1000;
    return seconds < SECONDS_MIN ? undefined : Math.ceil((seconds * (1 - share)) / share);
  }
}
