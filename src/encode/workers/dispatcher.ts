import { FarthingError, toFarthingError } from '../../domain/error.ts';
import type { EncoderThread } from './encoder-thread.ts';
import { CutJob, type EncoderTask, type JobKind, type PictureJob, TextJob } from './job.ts';
import { type CutPassage, type ProviderLoss, TASK_ROWS_MAX } from './protocol.ts';
import { QueryPace } from './query-pace.ts';
import { type Piece, type PullBounds, WorkQueue } from './work-queue.ts';

export type AnyJob = TextJob | PictureJob | CutJob<CutPassage>;

export interface DispatcherOptions {
  readonly slots: readonly EncoderThread[];
  /** They are given work once they answer. */
  readonly opening?: readonly EncoderThread[];
  readonly queryQueueMax: number;
  /** A query that would wait longer, as far as can be told, is refused at once. Absent: however long. */
  readonly queryWaitMsMax?: number;
  readonly ingestQueueMax: number;
  /** What one task may hold, by kind. */
  readonly bounds: Readonly<Record<JobKind, PullBounds>>;
  /** Text towers of each kind of text. */
  readonly towers: Readonly<Record<'query_texts' | 'passage_texts', readonly number[]>>;
  /** Models that every worker must have open. */
  readonly models: readonly string[];
  readonly log: (event: object) => void;
  readonly onTask?: (task: EncoderTask) => void;
  /** A worker's answer tells that its provider is lost: with each answer from then on. */
  readonly onLoss?: (loss: ProviderLoss) => void;
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

/** How long after a query the next one is expected. */
const SEARCHING_MS = 1_000;

/** So many queries wait for the query workers, whatever else is idle or slow: some tens of milliseconds on a processor. */
const QUERIES_WAITING_ANYWAY = 8;
/** With more of them waiting the ingest workers help. */
const QUERIES_NOT_HELPED = 2;

/** Once with others, whose fault a failure may have been, and twice alone. */
const ATTEMPTS_MAX = 3;

/**
 * Hands waiting work to idle workers: queries first, and one worker does nothing else. A worker that becomes idle pulls at
 * once what is waiting then; nothing is delayed to make a batch larger.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #queries: WorkQueue<number>;
  readonly #ingest: WorkQueue<number>;
  /** Workers that may be given work; one that could not be started again is left out. */
  readonly #slots: Set<EncoderThread>;
  /** Workers with a task: until its rows are copied out of the worker's memory, or a failed worker answers again. */
  readonly #busy = new Map<EncoderThread, Promise<void>>();
  readonly #counters = { tasks: 0, runs: 0, tokens: 0, padding: 0, workerFailures: 0, repeatedPieces: 0 };
  readonly #pace = new QueryPace();
  /** Queries that are not answered yet, and when the last one was. */
  #searching = 0;
  #lastQueryAt = Number.NEGATIVE_INFINITY;
  #closing = false;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#queries = new WorkQueue(options.queryQueueMax);
    this.#ingest = new WorkQueue(options.ingestQueueMax);
    // Query workers are asked first: the others run at a lower priority.
    this.#slots = new Set(
      [...this.#all].sort((a, b) => Number(a.role === 'ingest') - Number(b.role === 'ingest')),
    );
    for (const slot of options.opening ?? []) this.#occupy(slot, this.#revive(slot));
  }

  get #all(): readonly EncoderThread[] {
    return [...this.#options.slots, ...(this.#options.opening ?? [])];
  }

  get counters(): EncoderCounters {
    return { ...this.#counters };
  }

  depths(): { queries: number; ingest: number } {
    return { queries: this.#queries.depth, ingest: this.#ingest.depth };
  }

  /** False once no worker could be started again. */
  get serving(): boolean {
    return this.#slots.size > 0;
  }

  admitQuery(): void {
    this.#refuseWhenClosing();
    const waitMs = this.#queries.depth * this.#pace.milliseconds;
    const most = this.#options.queryWaitMsMax ?? Number.POSITIVE_INFINITY;
    const retryAfterS = Math.max(1, Math.ceil(waitMs / 1000));
    // A few may wait however slow the last ones were.
    const tooLong = waitMs > most && this.#queries.depth > QUERIES_WAITING_ANYWAY;
    this.#queries.admit('searches', retryAfterS, tooLong);
  }

  admitIngest(): void {
    this.#refuseWhenClosing();
    this.#ingest.admit('ingests', 10);
  }

  #refuseWhenClosing(): void {
    if (this.#closing)
      throw new FarthingError('not_ready', 'The server is shutting down.', { retryAfterS: 5 });
    if (this.#slots.size === 0)
      throw new FarthingError('not_ready', 'No worker could be started.', { retryAfterS: 30 });
  }

  async query<J extends TextJob | PictureJob>(job: J): Promise<Awaited<J['result']>> {
    this.admitQuery();
    this.#searching += 1;
    try {
      return (await this.#add(this.#queries, job)) as Awaited<J['result']>;
    } finally {
      this.#searching -= 1;
      this.#lastQueryAt = performance.now();
    }
  }

  async ingest<J extends AnyJob>(job: J): Promise<Awaited<J['result']>> {
    this.admitIngest();
    return this.#add(this.#ingest, job) as Promise<Awaited<J['result']>>;
  }

  #add(queue: WorkQueue<number>, job: AnyJob): Promise<unknown> {
    if (!job.cancelled()) {
      queue.add(job);
      this.#pump();
    }
    return job.result;
  }

  #pump(): void {
    const boundsOf = (kind: string) => this.#options.bounds[kind as JobKind];
    for (const slot of this.#slots) {
      if (this.#busy.has(slot)) continue;
      let queue = this.#queries;
      let pieces: Piece<number>[] = [];
      if (slot.role === 'query' || !this.#hasQueryWorkers()) pieces = queue.pull(boundsOf);
      else if (this.#queryWorkersFallBehind()) pieces = queue.pull(oneOf(boundsOf));
      if (pieces.length === 0 && slot.role === 'ingest' && !this.#ingestMakesRoom()) {
        queue = this.#ingest;
        pieces = queue.pull(boundsOf);
      }
      if (pieces.length === 0) continue;
      this.#occupy(slot, this.#serve(slot, queue, pieces));
    }
  }

  #occupy(slot: EncoderThread, work: Promise<void>): void {
    const busy = work.finally(() => {
      this.#busy.delete(slot);
      this.#pump();
    });
    this.#busy.set(slot, busy);
  }

  /**
   * An ingest worker runs at a low priority: a query that it takes may wait for everything else on the machine. It helps
   * only when more queries wait than a query worker is given time for, and with one at a time.
   */
  #queryWorkersFallBehind(): boolean {
    return this.#queries.depth > QUERIES_NOT_HELPED;
  }

  #hasQueryWorkers(): boolean {
    return [...this.#slots].some(({ role }) => role === 'query');
  }

  /**
   * While there are searches, an ingest leaves as many workers idle as the queries have: a low priority alone lets a thread
   * that wakes up wait for its processor. Those that rest are asked again whenever another worker's task ends.
   */
  #ingestMakesRoom(): boolean {
    if (this.#searching === 0 && performance.now() - this.#lastQueryAt > SEARCHING_MS) return false;
    const of = (role: EncoderThread['role'], slots: Iterable<EncoderThread>) =>
      [...slots].filter((slot) => slot.role === role);
    const ingest = of('ingest', this.#slots).length;
    const most = Math.max(1, ingest - of('query', this.#slots).length);
    return of('ingest', this.#busy.keys()).length >= most;
  }

  async #serve(slot: EncoderThread, queue: WorkQueue<number>, pieces: Piece<number>[]): Promise<void> {
    const started = performance.now();
    const ended = queue === this.#queries ? this.#pace.begin(started) : undefined;
    try {
      await this.#perform(slot, pieces);
      this.#tell(pieces, started);
      ended?.(performance.now(), pieces.length);
    } catch (error) {
      ended?.(performance.now(), 0);
      this.#counters.workerFailures += 1;
      this.#options.log({
        event: 'encode_failed',
        role: slot.role,
        pieces: pieces.length,
        error: String(error),
      });
      this.#repeat(queue, pieces, error);
      await this.#revive(slot);
    }
  }

  #tell(pieces: readonly Piece<number>[], started: number): void {
    const jobs = pieces.map(({ work }) => work as AnyJob);
    const entries = pieces.reduce((sum, piece) => sum + piece.entries.length, 0);
    const task = {
      kind: jobs[0]!.kind,
      entries,
      milliseconds: performance.now() - started,
      waitedMs: started - Math.min(...jobs.map(({ madeAt }) => madeAt)),
    };
    this.#options.onTask?.(task);
    for (const job of jobs) job.onTask?.(task);
  }

  /** One entry at a time, so that only what fails by itself fails in the end. */
  #repeat(queue: WorkQueue<number>, pieces: Piece<number>[], error: unknown): void {
    for (const { work, entries, attempts } of pieces) {
      if (attempts + 1 >= ATTEMPTS_MAX) (work as AnyJob).fail(toFarthingError(error));
      else {
        this.#counters.repeatedPieces += 1;
        for (const entry of entries) queue.repeat({ work, entries: [entry], attempts });
      }
    }
  }

  /**
   * Waits until the worker, or the one in its place, answers: what waits goes to the others meanwhile. One that comes back
   * without a model that serves is lost: it would fail everything that it is given.
   */
  async #revive(slot: EncoderThread): Promise<void> {
    this.#pump();
    try {
      const reports = await slot.report();
      const failed = reports.find(({ model, failure }) => failure && this.#options.models.includes(model));
      if (failed) throw new Error(`${failed.model}: ${failed.failure}`);
    } catch (error) {
      this.#slots.delete(slot);
      this.#options.log({ event: 'encode_worker_lost', role: slot.role, error: String(error) });
      const lost = new FarthingError('not_ready', 'No worker could be started.', { retryAfterS: 30 });
      const serving = [...this.#slots];
      if (serving.length === 0) for (const work of this.#queries.drain()) (work as AnyJob).fail(lost);
      if (!serving.some(({ role }) => role === 'ingest'))
        for (const work of this.#ingest.drain()) (work as AnyJob).fail(lost);
    }
  }

  async #perform(slot: EncoderThread, pieces: Piece<number>[]): Promise<void> {
    this.#counters.tasks += 1;
    const first = pieces[0]!.work as AnyJob;
    if (first instanceof CutJob) return this.#cut(slot, pieces);
    const totals =
      first instanceof TextJob ? await this.#texts(slot, pieces) : await this.#pictures(slot, pieces);
    this.#counters.runs += totals.runs;
    this.#counters.tokens += totals.tokens;
    this.#counters.padding += totals.padding;
    for (const loss of totals.losses ?? []) this.#options.onLoss?.(loss);
    const stride = first.stride;
    let row = 0;
    for (const { work, entries } of pieces) {
      const rows = slot.output.subarray(row * stride, (row + entries.length) * stride);
      (work as TextJob | PictureJob).take(entries, rows);
      row += entries.length;
    }
  }

  #texts(slot: EncoderThread, pieces: Piece<number>[]) {
    const kind = (pieces[0]!.work as TextJob).kind as 'query_texts' | 'passage_texts';
    const texts = pieces.flatMap(({ work, entries }) =>
      entries.map((entry) => (work as TextJob).text(entry)),
    );
    const use = kind === 'query_texts' ? 'query' : 'passage';
    return slot.encode({ kind: 'texts', towers: this.#options.towers[kind], use, texts });
  }

  #pictures(slot: EncoderThread, pieces: Piece<number>[]) {
    let offset = 0;
    let count = 0;
    for (const { work, entries } of pieces) {
      for (const entry of entries) {
        const rgb = (work as PictureJob).pictures[entry]!;
        slot.input.set(rgb, offset);
        offset += rgb.length;
        count += 1;
      }
    }
    const first = pieces[0]!.work as PictureJob;
    const use = first.kind === 'query_pictures' ? 'query' : 'ingest';
    return slot.encode({ kind: 'pictures', use, count, words: first.has('visual_words') });
  }

  async #cut(slot: EncoderThread, pieces: Piece<number>[]): Promise<void> {
    for (const { work, entries } of pieces) {
      const job = work as CutJob<CutPassage>;
      for (const entry of entries) {
        const title = job.title === undefined ? {} : { title: job.title };
        job.take(entry, await slot.cut({ kind: 'cut', ...title, blocks: job.slices[entry]! }));
      }
    }
  }

  /** Queries that wait are answered, an ingest's waiting work is given up (it is done again after a start), then workers end. */
  async close(): Promise<void> {
    this.#closing = true;
    for (const work of this.#ingest.drain())
      (work as AnyJob).fail(new FarthingError('interrupted', 'The server is shutting down.'));
    while (this.#busy.size > 0) await Promise.race(this.#busy.values());
    await Promise.all(this.#all.map((slot) => slot.close()));
  }
}

function oneOf(boundsOf: (kind: string) => PullBounds): (kind: string) => PullBounds {
  return (kind) => ({ ...boundsOf(kind), entries: 1 });
}

/** Bounds of a task never go over what its shared memory holds. */
export function taskBounds(entries: number, cost: number): PullBounds {
  return { entries: Math.min(entries, TASK_ROWS_MAX), cost };
}
