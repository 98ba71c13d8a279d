import { setTimeout as pause } from 'node:timers/promises';
import { type Clock, toTimestamp } from '../../domain/clock.ts';
import type { JobId } from '../../domain/id.ts';
import { isEnded, type Job, type JobState, jobMayPass, owesCredit } from '../../domain/job.ts';
import type { Store, Table } from '../../state/store.ts';
import { Pace } from './pace.ts';

/** Rows that one turn of the event loop looks at while old ones are removed. */
const PRUNE_ROWS_PER_TURN = 500;

/**
 * The jobs: every change of state is on the disk before anybody hears of it; progress within a state is kept in memory
 * only. Whoever waits for a job's end is told.
 */
export class JobTable {
  readonly #store: Store;
  readonly #rows: Table<Job>;
  readonly #clock: Clock;
  /** Progress of running jobs, newer than their rows. */
  readonly #progress = new Map<JobId, Pick<Job, 'progress' | 'segments'>>();
  readonly #waiters = new Map<JobId, Set<() => void>>();
  /** Told of every change, progress included. */
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
    return row && { ...row, ...this.#progress.get(id) };
  }

  /** The job with what is known of its pace. */
  shown(id: JobId): Job | undefined {
    const job = this.get(id);
    const time_left_s = job && this.#pace.secondsLeft(id, job.progress);
    return job && { ...job, ...(time_left_s !== undefined && { time_left_s }) };
  }

  /** Writes a new job. @throws Error when its id is taken. */
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

  /** Moves a job on. @throws Error for a step that no job may take. */
  async move(
    id: JobId,
    state: JobState,
    changes: Partial<Pick<Job, 'error' | 'progress' | 'segments'>> = {},
  ): Promise<Job> {
    const done = state === 'searchable' ? { progress: 1 } : {};
    const moved = await this.#write(id, (job) => {
      if (!jobMayPass(job.state, state))
        throw new Error(`job ${id} may not go from ${job.state} to ${state}`);
      return { ...job, ...changes, ...done, state };
    });
    if (state === 'extracting') this.#pace.begin(id);
    return moved;
  }

  /** Takes a job through all that is left of its way: its Item is searchable already. */
  async finish(id: JobId, segments: number): Promise<void> {
    for (const state of ['extracting', 'encoding', 'committing', 'searchable'] as const) {
      const job = this.get(id);
      if (job && jobMayPass(job.state, state)) await this.move(id, state, { segments });
    }
  }

  /** Begins a job anew that an end of the server interrupted. */
  restart(id: JobId, attempts: number): Promise<Job> {
    return this.change(id, { state: 'accepted', progress: 0, segments: 0, attempts });
  }

  /** Writes fields beside the state, or, for `restart` alone, the first state again. An undefined field is removed. */
  change(id: JobId, changes: Partial<Job>): Promise<Job> {
    return this.#write(id, (job) => {
      const kept = Object.entries({ ...job, ...changes }).filter(([, value]) => value !== undefined);
      return Object.fromEntries(kept) as unknown as Job;
    });
  }

  /** Notes how far a running job is. */
  note(id: JobId, progress: number, segments: number): void {
    this.#progress.set(id, { progress, segments });
    this.#tell(id);
  }

  async remove(id: JobId): Promise<void> {
    await this.#rows.remove(id);
    this.#settle(id);
  }

  /** All rows, in no particular order. */
  async *all(): AsyncGenerator<Job> {
    let after = '';
    for (;;) {
      const rows = [...this.#rows.range({ start: after, limit: PRUNE_ROWS_PER_TURN })];
      for (const { value } of rows) yield value;
      const last = rows.at(-1);
      if (rows.length < PRUNE_ROWS_PER_TURN || !last) return;
      // The next key in the order of bytes.
      after = `${last.key}\u0001`;
      await new Promise(setImmediate);
    }
  }

  /** Removes jobs that ended before a time (milliseconds since the epoch), owe nobody anything, and are not being paid for. */
  async prune(before: number): Promise<void> {
    const limit = toTimestamp(before);
    for await (const job of this.all()) {
      const isSettled = isEnded(job.state) && !job.held && !owesCredit(job);
      if (isSettled && job.updated_at < limit) await this.#rows.remove(job.id);
    }
  }

  /** Resolves when the job ends, the milliseconds are over, or the signal is aborted; with its state then. */
  async waitFor(id: JobId, milliseconds: number, signal?: AbortSignal): Promise<Job | undefined> {
    const job = this.get(id);
    if (!job || isEnded(job.state) || milliseconds <= 0 || signal?.aborted || this.#closed) return job;
    await new Promise<void>((resolve) => {
      const waiters = this.#waiters.get(id) ?? new Set();
      this.#waiters.set(id, waiters);
      const settle = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', settle);
        waiters.delete(settle);
        if (waiters.size === 0) this.#waiters.delete(id);
        resolve();
      };
      const timer = setTimeout(settle, milliseconds);
      signal?.addEventListener('abort', settle, { once: true });
      waiters.add(settle);
    });
    return this.shown(id);
  }

  /**
   * The job as it is, and again after its changes, but not more often than every so many milliseconds; the last one is its end. Ends as well
   * when its row is removed, the signal is aborted or the server stops.
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

  /** Nobody waits any longer, and nobody who comes later does: the server stops. */
  stopWaiting(): void {
    this.#closed = true;
    for (const id of [...this.#watchers.keys()]) this.#tell(id);
    for (const id of [...this.#waiters.keys()]) this.#answer(id);
  }

  /** Changes the row as it is then: a payment and its Tenant's end may decide about a job at once. */
  async #write(id: JobId, change: (job: Job) => Job): Promise<Job> {
    const row = await this.#store.transaction(() => {
      const job = this.get(id);
      if (!job) throw new Error(`job ${id} does not exist`);
      const changed = { ...change(job), updated_at: toTimestamp(this.#clock.now()) };
      void this.#rows.put(id, changed);
      return changed;
    });
    this.#progress.delete(row.id);
    if (isEnded(row.state)) this.#settle(row.id);
    else this.#tell(row.id);
    return row;
  }

  #tell(id: JobId): void {
    for (const tell of [...(this.#watchers.get(id) ?? [])]) tell();
  }

  #settle(id: JobId): void {
    this.#progress.delete(id);
    this.#pace.end(id);
    this.#tell(id);
    this.#answer(id);
  }

  #answer(id: JobId): void {
    for (const settle of [...(this.#waiters.get(id) ?? [])]) settle();
  }
}
