import { FarthingError, toFarthingError } from '@farthing/protocol/error';
import type { Failure } from '../models/tower.ts';
import type { Use } from '../session/runner.ts';
import { type BatchBounds, BatchQueue, type Piece } from './batch-queue.ts';
import type { EncoderThread } from './encoder-thread.ts';
import { CutJob, type EncoderTask, type VectorJob } from './job.ts';
import { QueryPace } from './query-pace.ts';

type AnyJob = VectorJob | CutJob;

export interface DispatcherOptions {
  readonly threads: readonly EncoderThread[];
  readonly queryQueueMax: number;
  /** A query whose estimated wait is longer is refused at once. Absent: no limit. */
  readonly queryWaitMsMax?: number;
  readonly ingestQueueMax: number;
  /** Limits of one task, by the name of its kind of work. */
  readonly boundsOf: (name: string) => BatchBounds;
  /** Models that every worker must have open. */
  readonly models: readonly string[];
  /** Whether a query that is not queued here has no answer yet, or had one within so many milliseconds. */
  readonly asksElsewhere?: (ms: number) => boolean;
  readonly log: (event: object) => void;
  readonly onTask?: (task: EncoderTask) => void;
  /** Called when a worker has lost a provider, with each of its answers from then on. */
  readonly onLoss?: (loss: Failure) => void;
}

/** Counts since the start. */
export interface EncoderCounters {
  readonly tasks: number;
  readonly runs: number;
  readonly tokens: number;
  readonly padding: number;
  readonly workerFailures: number;
  readonly repeatedPieces: number;
}

/** How long after a query, in milliseconds, another one is expected. */
const SEARCHING_MS = 1_000;

/** This many queries may always wait: some tens of milliseconds on a processor. */
const QUERIES_WAITING_ANYWAY = 8;
/** Ingest workers help when more queries than this wait. */
const QUERIES_NOT_HELPED = 2;

/** A piece is tried once with others, which may have caused its failure, and twice alone. */
const ATTEMPTS_MAX = 3;

/**
 * Hands waiting work to idle workers: queries first, and query workers do nothing else. An idle worker pulls what waits at
 * once; nothing is delayed to make a batch larger.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #queries: BatchQueue<number>;
  readonly #ingest: BatchQueue<number>;
  /** Threads that may get work; one that could not be restarted is left out. */
  readonly #threads: Set<EncoderThread>;
  /** Threads with a task, until its rows are copied out of their memory, or the failed worker answers again. */
  readonly #busy = new Map<EncoderThread, Promise<void>>();
  readonly #counters = { tasks: 0, runs: 0, tokens: 0, padding: 0, workerFailures: 0, repeatedPieces: 0 };
  readonly #pace = new QueryPace();
  /** Number of unanswered queries, and when the last one was answered. */
  #searching = 0;
  #pumpsSoon = false;
  #lastQueryAt = Number.NEGATIVE_INFINITY;
  #closing = false;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#queries = new BatchQueue(options.queryQueueMax);
    this.#ingest = new BatchQueue(options.ingestQueueMax);
    // Query workers come first: the others run at a lower priority.
    this.#threads = new Set(
      [...options.threads].sort((a, b) => Number(a.role === 'ingest') - Number(b.role === 'ingest')),
    );
  }

  get counters(): EncoderCounters {
    return { ...this.#counters };
  }

  depths(): { queries: number; ingest: number } {
    return { queries: this.#queries.depth, ingest: this.#ingest.depth };
  }

  /** False once no worker is left: none could be restarted. */
  get serving(): boolean {
    return this.#threads.size > 0;
  }

  /** @param waitMsMax longest estimated wait of a query that may wait for longer than others */
  admitQuery(tenant: string, waitMsMax = 0): void {
    this.#refuseWhenClosing();
    const before = this.#queries.depthBefore(tenant);
    const waitMs = before * this.#pace.milliseconds;
    const most = Math.max(waitMsMax, this.#options.queryWaitMsMax ?? Number.POSITIVE_INFINITY);
    const retryAfterS = Math.max(1, Math.ceil(waitMs / 1000));
    // A few may always wait, however slow the last queries were.
    const tooLong = waitMs > most && before > QUERIES_WAITING_ANYWAY;
    this.#queries.refuseBeyond(tenant, 'searches', retryAfterS, tooLong);
  }

  admitIngest(tenant: string): void {
    this.#refuseWhenClosing();
    this.#ingest.refuseBeyond(tenant, 'ingests', 10);
  }

  #refuseWhenClosing(): void {
    if (this.#closing)
      throw new FarthingError('not_ready', 'The server is shutting down.', { retryAfterS: 5 });
    if (this.#threads.size === 0)
      throw new FarthingError('not_ready', 'No worker could be started.', { retryAfterS: 30 });
  }

  async query<J extends VectorJob>(job: J): Promise<Awaited<J['result']>> {
    this.admitQuery(job.tenant, job.waitMsMax);
    this.#searching += 1;
    try {
      return (await this.#add(this.#queries, job)) as Awaited<J['result']>;
    } finally {
      this.#searching -= 1;
      this.#lastQueryAt = performance.now();
    }
  }

  async ingest<J extends AnyJob>(job: J): Promise<Awaited<J['result']>> {
    this.admitIngest(job.tenant);
    return this.#add(this.#ingest, job) as Promise<Awaited<J['result']>>;
  }

  #add(queue: BatchQueue<number>, job: AnyJob): Promise<unknown> {
    if (!job.cancelled()) {
      queue.enter(job);
      this.#pumpSoon();
    }
    return job.result;
  }

  /** After all calls of the same moment: several questions of one search are one batch. */
  #pumpSoon(): void {
    if (this.#pumpsSoon) return;
    this.#pumpsSoon = true;
    queueMicrotask(() => {
      this.#pumpsSoon = false;
      this.#pump();
    });
  }

  #pump(): void {
    const { boundsOf } = this.#options;
    for (const thread of this.#threads) {
      if (this.#busy.has(thread)) continue;
      let queue = this.#queries;
      let pieces: Piece<number>[] = [];
      if (thread.role === 'query' || !this.#hasQueryWorkers()) pieces = queue.take(boundsOf);
      else if (this.#queryWorkersFallBehind()) pieces = queue.take(oneOf(boundsOf));
      if (pieces.length === 0 && thread.role === 'ingest') {
        queue = this.#ingest;
        const makesRoom = this.#ingestMakesRoom();
        // A few words of one owner do not wait for the long work of others.
        if (!makesRoom || queue.owners > 1) pieces = queue.take(boundsOf, makesRoom);
      }
      if (pieces.length === 0) continue;
      this.#occupy(thread, this.#serve(thread, queue, pieces));
    }
  }

  #occupy(thread: EncoderThread, work: Promise<void>): void {
    const busy = work.finally(() => {
      this.#busy.delete(thread);
      this.#pump();
    });
    this.#busy.set(thread, busy);
  }

  /**
   * An ingest worker runs at a low priority: its query may wait for everything else on the machine. It helps only when the
   * query workers fall behind, and with one query at a time.
   */
  #queryWorkersFallBehind(): boolean {
    return this.#queries.depth > QUERIES_NOT_HELPED;
  }

  #hasQueryWorkers(): boolean {
    return [...this.#threads].some(({ role }) => role === 'query');
  }

  /**
   * While there are searches, an ingest leaves as many workers idle as there are query workers: at a low priority alone, a
   * thread that wakes up would still wait for its processor. Idle workers are considered again whenever a task ends.
   */
  #ingestMakesRoom(): boolean {
    const isSearching = this.#searching > 0 || performance.now() - this.#lastQueryAt <= SEARCHING_MS;
    if (!isSearching && !this.#options.asksElsewhere?.(SEARCHING_MS)) return false;
    const count = (role: Use, threads: Iterable<EncoderThread>) =>
      [...threads].filter((thread) => thread.role === role).length;
    const most = Math.max(1, count('ingest', this.#threads) - count('query', this.#threads));
    return count('ingest', this.#busy.keys()) >= most;
  }

  async #serve(thread: EncoderThread, queue: BatchQueue<number>, pieces: Piece<number>[]): Promise<void> {
    const started = performance.now();
    const ended = queue === this.#queries ? this.#pace.begin(started) : undefined;
    try {
      const sinceMs = await this.#perform(thread, pieces);
      this.#report(pieces, started, sinceMs);
      ended?.(performance.now(), pieces.length);
    } catch (error) {
      ended?.(performance.now(), 0);
      this.#counters.workerFailures += 1;
      this.#options.log({
        event: 'encode_failed',
        role: thread.role,
        pieces: pieces.length,
        error: String(error),
      });
      this.#repeat(queue, pieces, error);
      await this.#revive(thread);
    }
  }

  /** @param sinceMs milliseconds since the task ended */
  #report(pieces: readonly Piece<number>[], started: number, sinceMs: number): void {
    const jobs = pieces.map(({ work }) => work as AnyJob);
    const entries = pieces.reduce((sum, piece) => sum + piece.entries.length, 0);
    const task = {
      kind: jobs[0]!.kind,
      entries,
      milliseconds: performance.now() - started - sinceMs,
      waitedMs: started - Math.min(...jobs.map(({ madeAt }) => madeAt)),
    };
    this.#options.onTask?.(task);
    for (const job of jobs) job.onTask?.(task);
  }

  /** Repeats a failed task entry by entry, so that in the end only the entry at fault fails. */
  #repeat(queue: BatchQueue<number>, pieces: Piece<number>[], error: unknown): void {
    for (const { work, entries, attempts } of pieces) {
      if (attempts + 1 >= ATTEMPTS_MAX) (work as AnyJob).fail(toFarthingError(error));
      else {
        this.#counters.repeatedPieces += 1;
        for (const entry of entries) queue.enterAgain({ work, entries: [entry], attempts });
      }
    }
  }

  /**
   * Waits until the worker or its successor answers; others take the waiting work. A worker that comes back without a model
   * that serves is dropped: it would fail every task.
   */
  async #revive(thread: EncoderThread): Promise<void> {
    this.#pump();
    try {
      const reports = await thread.report();
      const failed = reports.find(({ model, failure }) => failure && this.#options.models.includes(model));
      if (failed) throw new Error(`${failed.model}: ${failed.failure}`);
    } catch (error) {
      this.#threads.delete(thread);
      this.#options.log({ event: 'encode_worker_lost', role: thread.role, error: String(error) });
      const lost = new FarthingError('not_ready', 'No worker could be started.', { retryAfterS: 30 });
      const serving = [...this.#threads];
      if (serving.length === 0) for (const work of this.#queries.drain()) (work as AnyJob).fail(lost);
      if (!serving.some(({ role }) => role === 'ingest'))
        for (const work of this.#ingest.drain()) (work as AnyJob).fail(lost);
    }
  }

  /** @returns milliseconds since the task ended */
  async #perform(thread: EncoderThread, pieces: Piece<number>[]): Promise<number> {
    this.#counters.tasks += 1;
    const first = pieces[0]!.work as AnyJob;
    if (first instanceof CutJob) {
      await this.#cut(thread, pieces);
      return 0;
    }
    const totals = await thread.encode(first.taskOf(pieces, thread.input));
    this.#counters.runs += totals.runs;
    this.#counters.tokens += totals.tokens;
    this.#counters.padding += totals.padding;
    for (const loss of totals.losses ?? []) this.#options.onLoss?.(loss);
    const { stride } = first;
    let row = 0;
    for (const { work, entries } of pieces) {
      const rows = thread.output.subarray(row * stride, (row + entries.length) * stride);
      (work as VectorJob).take(entries, rows);
      row += entries.length;
    }
    return totals.sinceMs ?? 0;
  }

  async #cut(thread: EncoderThread, pieces: Piece<number>[]): Promise<void> {
    for (const { work, entries } of pieces) {
      const job = work as CutJob;
      for (const entry of entries) job.take(entry, await thread.cut(job.taskOf(entry)));
    }
  }

  /** Answers the waiting queries, gives up the waiting work of ingests (they begin again after a start), and ends the workers. */
  async close(): Promise<void> {
    this.#closing = true;
    for (const work of this.#ingest.drain())
      (work as AnyJob).fail(new FarthingError('interrupted', 'The server is shutting down.'));
    while (this.#busy.size > 0) await Promise.race(this.#busy.values());
    await Promise.all(this.#options.threads.map((thread) => thread.rest()));
  }
}

function oneOf(boundsOf: (kind: string) => BatchBounds): (kind: string) => BatchBounds {
  return (kind) => ({ ...boundsOf(kind), entries: 1 });
}
