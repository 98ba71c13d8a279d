import { availableParallelism } from 'node:os';
import { crossing, fromNative, type native, type SearchedHits, type Vocabulary } from '@farthing/native';
import { FarthingError } from '@farthing/protocol/error';
import type { EncoderTask } from '../workers/job.ts';
import type { NativeTextRunner } from './native-text-runner.ts';

type Native = InstanceType<typeof native.QueryQueue>;
type Told = Parameters<Parameters<Native['listen']>[0]>;

type SearchParameters = ConstructorParameters<typeof native.NativeSearch>;
/** Which hits a search wants, and how: what `NativeSearch` takes behind the plan. */
export type WantedHits = SearchParameters extends [unknown, ...infer Wanted] ? Wanted : never;

/** A search of words, with all that is known of it. */
export interface WordsSearch {
  readonly index: InstanceType<typeof native.PlannedIndex>;
  readonly words: string;
  /** The words ask something. */
  readonly asks: boolean;
  readonly wanted: WantedHits;
}

/** What came of a query. */
export interface TextAnswered {
  readonly task: EncoderTask;
  /** Milliseconds from when it was asked until its text was encoded. */
  readonly encodedMs: number;
  /** Absent where a search has its answer, and all of it is proved, and where nothing was to be encoded. */
  readonly vector: Float32Array | null;
  /** Absent without a search, where it would take long, and where its index was closed or has other models. */
  readonly answer: SearchedHits | null;
  /** Nothing was searched: the index has no content. */
  readonly isEmpty: boolean;
}

export interface TextQueryOptions {
  readonly tenant: string;
  readonly signal?: AbortSignal;
  /** Longest estimated wait, in milliseconds, of one that may wait for longer than others. */
  readonly waitMsMax?: number;
  /** Called at once, if it is not refused. */
  readonly onBegun?: () => void;
}

export interface TextQueriesOptions {
  /** Queries that may wait. */
  readonly waitingMax: number;
  /** A query whose estimated wait is longer is refused at once. Absent: no limit. */
  readonly waitMsMax: number | undefined;
  /** Batches at a time, and how many more where queries fall behind. */
  readonly threads: number;
  readonly helpers: number;
  /** Of one batch. */
  readonly bounds: { readonly entries: number; readonly size: number };
  readonly vocabulary: Vocabulary | undefined;
  /** Of the queue, which other JavaScript threads have, too: the first one says its bounds. Absent: it is this one's alone. */
  readonly name: string | undefined;
  readonly log: (event: object) => void;
  readonly onTask: ((task: EncoderTask) => void) | undefined;
}

/** Searches without vectors: as many at a time as the index has threads for long ones. */
const SCANS = {
  waitingMax: 1024,
  threads: Math.min(4, availableParallelism()),
  helpers: 0,
  batchQueries: 1,
  batchTokens: 1,
};

/** Where the facts are that `QueryQueue.listen` names. */
const FACTS = {
  entries: 0,
  waitedMs: 1,
  milliseconds: 2,
  runs: 3,
  tokens: 4,
  failures: 5,
  isFirst: 6,
  encodedMs: 7,
  isEmpty: 8,
} as const;

/** Told once what came of a query: its answer, or why there is none. */
export type Heard = (error: unknown, answered?: TextAnswered) => void;

/**
 * Text queries of one native model. The queue, its bounds and its turns are native (`native/encoder/src/encoding/query_queue.rs`), and so is
 * the search that goes on with a vector: one call begins it, and one callback ends it.
 */
export class TextQueries {
  readonly counters = { tasks: 0, runs: 0, tokens: 0, workerFailures: 0, repeatedPieces: 0 };
  readonly #queue: Native;
  /** Searches without vectors, which wait for no encoding. */
  readonly #scans: Native;
  readonly #waiting = new Map<number, Heard>();
  readonly #options: TextQueriesOptions;
  #number = 0;
  #pumpsSoon = false;
  #closing = false;
  #whenIdle: (() => void) | undefined;

  constructor(runner: NativeTextRunner, options: TextQueriesOptions) {
    this.#options = options;
    const { waitingMax, waitMsMax, threads, helpers, bounds, vocabulary, name } = options;
    const most = {
      waitingMax,
      threads,
      helpers,
      batchQueries: bounds.entries,
      batchTokens: bounds.size,
      ...(waitMsMax !== undefined && { waitMsMax }),
    };
    this.#queue = runner.queueOf(most, vocabulary, name);
    this.#scans = runner.queueOf(SCANS, vocabulary, name && `${name} scans`);
    this.#queue.listen((...told) => this.#hear(true, ...told));
    this.#scans.listen((...told) => this.#hear(false, ...told));
  }

  /** Queries that wait. */
  get depth(): number {
    return this.#queue.depth();
  }

  /** Whether a query of any thread has no answer yet, or had one within this time. */
  wasAskedWithin(ms: number): boolean {
    return this.#queue.wasAskedWithin(ms);
  }

  /** @throws overloaded, not_ready where a query could not wait now */
  admit({ tenant, waitMsMax = 0 }: TextQueryOptions): void {
    this.#refuseWhenClosing();
    const retryAfterS = this.#queue.refusal(tenant, waitMsMax);
    if (retryAfterS > 0) throw overloaded(this.#queue, retryAfterS);
  }

  /** @throws overloaded, not_ready; the signal's reason */
  async encode(text: string, options: TextQueryOptions): Promise<Float32Array> {
    const { tenant, waitMsMax = 0 } = options;
    const { vector } = await this.#begin(this.#queue, options, (call) =>
      this.#queue.encode(call, tenant, waitMsMax, text),
    );
    return vector!;
  }

  /** Searches, with the words' vector where the plan has lists of vectors. @throws as `encode`, and what a search throws */
  search(search: WordsSearch, encodes: boolean, options: TextQueryOptions): Promise<TextAnswered> {
    const queue = encodes ? this.#queue : this.#scans;
    const { tenant, waitMsMax = 0 } = options;
    const { index, words, asks, wanted } = search;
    return this.#begin(queue, options, (call) =>
      queue.search(call, tenant, waitMsMax, index, words, asks, ...wanted),
    );
  }

  /**
   * As `search`, without a promise, and by itself: nothing else of the same moment is encoded with it.
   * @returns gives it up, and `heard` is told nothing then. @throws as `search`
   */
  begin(
    { index, words, asks, wanted }: WordsSearch,
    encodes: boolean,
    { tenant, waitMsMax = 0 }: Pick<TextQueryOptions, 'tenant' | 'waitMsMax'>,
    heard: Heard,
  ): () => void {
    this.#refuseWhenClosing();
    const queue = encodes ? this.#queue : this.#scans;
    const call = this.#next();
    const retryAfterS = crossing(() => queue.search(call, tenant, waitMsMax, index, words, asks, ...wanted));
    if (retryAfterS > 0) throw overloaded(queue, retryAfterS);
    this.#waiting.set(call, heard);
    queue.pump();
    return () => this.#giveUp(queue, call);
  }

  /** Refuses more, and waits for those that have begun. */
  async close(): Promise<void> {
    this.#closing = true;
    if (this.#waiting.size > 0)
      await new Promise<void>((resolve) => {
        this.#whenIdle = resolve;
      });
  }

  /** @param begins returns 0, or after how many seconds to try again */
  #begin(
    queue: Native,
    { signal, onBegun }: TextQueryOptions,
    begins: (call: number) => number,
  ): Promise<TextAnswered> {
    return new Promise((answer, fail) => {
      this.#refuseWhenClosing();
      if (signal?.aborted) throw signal.reason;
      const call = this.#next();
      const retryAfterS = crossing(() => begins(call));
      if (retryAfterS > 0) throw overloaded(queue, retryAfterS);
      const leave = () => {
        if (this.#giveUp(queue, call)) fail(signal?.reason);
      };
      this.#waiting.set(call, (error, answered) => {
        signal?.removeEventListener('abort', leave);
        if (answered) answer(answered);
        else fail(error);
      });
      signal?.addEventListener('abort', leave, { once: true });
      if (queue === this.#queue) this.#pumpSoon();
      else queue.pump();
      onBegun?.();
    });
  }

  #next(): number {
    this.#number = (this.#number + 1) >>> 0;
    return this.#number;
  }

  /** After all calls of the same moment: several questions of one search are one batch. */
  #pumpSoon(): void {
    if (this.#pumpsSoon) return;
    this.#pumpsSoon = true;
    queueMicrotask(() => {
      this.#pumpsSoon = false;
      this.#queue.pump();
    });
  }

  #hear(
    encodes: boolean,
    call: number,
    error: Told[1],
    facts: Told[2],
    vector: Told[3],
    answer: Told[4],
  ): void {
    const task: EncoderTask = {
      kind: 'query_texts',
      entries: facts[FACTS.entries]!,
      milliseconds: facts[FACTS.milliseconds]!,
      waitedMs: facts[FACTS.waitedMs]!,
    };
    if (encodes && facts[FACTS.isFirst] === 1) this.#count(task, facts);
    const heard = this.#take(call);
    if (!heard) return;
    if (error === null) {
      const [encodedMs, isEmpty] = [facts[FACTS.encodedMs]!, facts[FACTS.isEmpty] === 1];
      heard(undefined, { task, encodedMs, vector, answer, isEmpty });
    } else heard(fromNative(new Error(error)));
  }

  #count(task: EncoderTask, facts: readonly number[]): void {
    const { counters } = this;
    const failures = facts[FACTS.failures]!;
    counters.tasks += 1;
    counters.runs += facts[FACTS.runs]!;
    counters.tokens += facts[FACTS.tokens]!;
    if (failures > 0) {
      counters.workerFailures += failures;
      counters.repeatedPieces += task.entries;
      this.#options.log({ event: 'encode_failed', role: 'query', pieces: task.entries });
    }
    this.#options.onTask?.(task);
  }

  /** @returns whether it waited */
  #giveUp(queue: Native, call: number): boolean {
    const isWaiting = this.#take(call) !== undefined;
    if (isWaiting) queue.cancel(call);
    return isWaiting;
  }

  #take(call: number): Heard | undefined {
    const heard = this.#waiting.get(call);
    this.#waiting.delete(call);
    if (this.#waiting.size === 0) this.#whenIdle?.();
    return heard;
  }

  #refuseWhenClosing(): void {
    if (this.#closing)
      throw new FarthingError('not_ready', 'The server is shutting down.', { retryAfterS: 5 });
  }
}

function overloaded(queue: Native, retryAfterS: number): FarthingError {
  return new FarthingError(
    'overloaded',
    `${queue.depth()} searches are waiting. Nothing was charged: try again later.`,
    { retryAfterS },
  );
}
