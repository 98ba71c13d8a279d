import type { EncoderTask } from '@farthing/engine/encode/encoder';
import type { ProbedEvent } from '@farthing/engine/search/recall-probe';
import type { SearchedEvent } from '@farthing/engine/search/search';
import { VECTOR_LISTS } from '@farthing/protocol/family';
import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';
import type { AnsweredEvent } from '../http/exchange/server.ts';
import { RunningRecall } from './running-recall.ts';

/** One call to the facilitator, as `observeFacilitator` measured it. */
export interface FacilitatorCall {
  readonly call: 'verify' | 'settle' | 'reconcile';
  readonly outcome: string;
  readonly milliseconds: number;
}

/** A request of a client whose store was not at this server. */
export interface ForwardedEvent {
  /**
   * `answered` by their server or, after a wait, here; `lost` with it; `refused` because the store kept moving, or too many
   * wait, or its body is not right; `left`: the client did.
   */
  readonly outcome: 'answered' | 'lost' | 'refused' | 'left';
  /** Until the head of the answer. */
  readonly milliseconds: number;
}

/** One call of the object store. */
export interface ObjectsCall {
  readonly call: string;
  readonly outcome: string;
  readonly milliseconds: number;
}

/** Seconds: from a search of a millisecond to an upload of a minute. */
const SECONDS = [
  0.0005, 0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.03, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60,
];
/** Events that wait to be counted, and for how long. */
const [WAITING_MAX, WAIT_MS] = [256, 100];
const BATCH = [1, 2, 4, 8, 16, 32, 64];
const SHARES = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1];
const ROWS = [1, 10, 100, 1000, 5000, 10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000];

/** The ways to make a list that probes compare with the proof. */
const UNPROVED = VECTOR_LISTS.flatMap((list) => ['bits', 'graph'].map((method) => ({ list, method })));

/**
 * Counts and times events for Prometheus; each kind of event has a method. Gauges are apart (`addGauges`). No label holds a
 * tenant, a wallet, a token or a path: all labels have few values.
 */
export class Metrics {
  readonly registry = new ReadyRegistry(() => this.#countWaiting());
  /** Events that are not counted yet. */
  #waiting: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;
  readonly #requests = this.#counter('requests_total', 'Answered requests.', ['method', 'route', 'status']);
  readonly #requestSeconds = this.#histogram('request_seconds', 'From the request read to its answer.', [
    'route',
  ]);
  readonly #refusals = this.#counter('refusals_total', 'Refused requests, by code.', ['status', 'code']);
  readonly #paymentSeconds = this.#histogram('payment_stage_seconds', 'Stages of charged searches.', [
    'stage',
  ]);
  readonly #searchSeconds = this.#histogram('search_stage_seconds', 'Stages of searches.', ['stage']);
  readonly #scanned = this.#histogram(
    'search_rows_scanned',
    'Rows or postings looked at, by list.',
    ['list'],
    ROWS,
  );
  readonly #rescored = this.#histogram(
    'search_rows_rescored',
    'Rows whose exact score was computed, by list.',
    ['list'],
    ROWS,
  );
  readonly #indexSegments = this.#histogram(
    'search_index_segments',
    'Segments of the index that was searched.',
    [],
    ROWS,
  );
  readonly #confidence = this.#histogram(
    'search_confidence',
    'Confidence of the first hit of each search; 0 without one.',
    [],
    SHARES,
  );
  readonly #inexact = this.#counter('searches_total', 'Searches of indexes that were not empty.', ['exact']);
  readonly #recallExpected = this.#counter(
    'recall_expected_hits_total',
    'Hits of the proved best that probes expected.',
    ['list', 'method'],
  );
  readonly #recallFound = this.#counter(
    'recall_found_hits_total',
    'Hits of the proved best that probes found.',
    ['list', 'method'],
  );
  readonly #recall = new RunningRecall(this.registry, UNPROVED);
  readonly #batch = this.#histogram(
    'encoder_batch_entries',
    'Entries of one task of an encoder.',
    ['kind'],
    BATCH,
  );
  readonly #taskSeconds = this.#histogram('encoder_task_seconds', 'One task of an encoder.', ['kind']);
  readonly #waitSeconds = this.#histogram(
    'encoder_wait_seconds',
    'Longest wait for a worker of a task’s entries.',
    ['kind'],
  );
  readonly #facilitator = this.#histogram('facilitator_seconds', 'Calls of the facilitator.', [
    'call',
    'outcome',
  ]);
  readonly #logCommits = this.#histogram(
    'log_commit_seconds',
    'Transactions of the log of the books (FARTHING_CLUSTER).',
    [],
  );
  readonly #objects = this.#histogram('objects_seconds', 'Calls of the object store (FARTHING_OBJECTS).', [
    'call',
    'outcome',
  ]);
  readonly #proxied = this.#histogram(
    'proxied_seconds',
    'Requests whose books were not at this server, until the head of their answer (FARTHING_NODE_URL).',
    ['outcome'],
  );
  readonly #credits = this.#counter('credits_total', 'Credits given for paid uploads that failed.', []);
  readonly #creditedUsd = this.#counter(
    'credited_usd_total',
    'Price of the credits given, in US dollars.',
    [],
  );
  readonly #ingestSeconds = this.#histogram('ingest_seconds', 'From a job’s begin to searchable.', []);
  readonly #jobsEnded = this.#counter('jobs_ended_total', 'Ingest jobs that ended.', ['state', 'code']);
  readonly #events = this.#counter('log_events_total', 'Events of the log but answers, by name.', ['event']);

  /** @param ofProcess whether the process is measured, too */
  constructor({ ofProcess = true } = {}) {
    if (ofProcess) collectDefaultMetrics({ register: this.registry });
    for (const name of MISNAMED) this.registry.removeSingleMetric(name);
    // Shown from the start, as zero.
    this.#credits.inc(0);
    this.#creditedUsd.inc(0);
    this.#jobsEnded.inc({ state: 'searchable', code: '' }, 0);
    this.#jobsEnded.inc({ state: 'failed', code: 'internal' }, 0);
    for (const event of WATCHED_EVENTS) this.#events.inc({ event }, 0);
    for (const labels of UNPROVED) {
      this.#recallExpected.inc({ ...labels }, 0);
      this.#recallFound.inc({ ...labels }, 0);
    }
    for (const exact of ['true', 'false']) this.#inexact.inc({ exact }, 0);
    for (const [status, code] of WATCHED_REFUSALS) this.#refusals.inc({ status, code }, 0);
    for (const outcome of ['valid', 'failed']) this.#facilitator.zero({ call: 'verify', outcome });
    for (const outcome of ['done', 'failed']) this.#objects.zero({ call: 'put', outcome });
    for (const outcome of ['answered', 'lost', 'refused', 'left']) this.#proxied.zero({ outcome });
  }

  readonly answered = this.#later(({ method, route, status, code, stages, milliseconds }: AnsweredEvent) => {
    this.#requests.inc({ method, route, status });
    this.#requestSeconds.observe({ route }, milliseconds / 1000);
    if (code !== undefined) this.#refusals.inc({ status, code });
    for (const stage of ['verify', 'settle'] as const) {
      const taken = stages?.[`${stage}_ms`];
      if (taken !== undefined) this.#paymentSeconds.observe({ stage }, taken / 1000);
    }
  });

  readonly searched = this.#later(({ lists, segments, exact, timing, confidence }: SearchedEvent) => {
    this.#confidence.observe(confidence);
    this.#inexact.inc({ exact: String(exact) });
    this.#indexSegments.observe(segments);
    for (const { list, scanned, rescored } of lists) {
      this.#scanned.observe({ list }, scanned);
      this.#rescored.observe({ list }, rescored);
    }
    for (const stage of ['encode', 'scan', 'fuse'] as const)
      this.#searchSeconds.observe({ stage }, (timing[`${stage}_ms`] ?? 0) / 1000);
  });

  readonly probed = ({ list, method, expected, found }: ProbedEvent): void => {
    this.#recallExpected.inc({ list, method }, expected);
    this.#recallFound.inc({ list, method }, found);
    this.#recall.add({ list, method }, expected, found);
  };

  readonly encoded = this.#later(({ kind, entries, milliseconds, waitedMs }: EncoderTask) => {
    this.#batch.observe({ kind }, entries);
    this.#taskSeconds.observe({ kind }, milliseconds / 1000);
    this.#waitSeconds.observe({ kind }, waitedMs / 1000);
  });

  readonly facilitatorCalled = ({ call, outcome, milliseconds }: FacilitatorCall): void => {
    this.#facilitator.observe({ call, outcome }, milliseconds / 1000);
  };

  readonly logCommitted = (milliseconds: number): void => this.#logCommits.observe(milliseconds / 1000);

  readonly objectsCalled = ({ call, outcome, milliseconds }: ObjectsCall): void => {
    this.#objects.observe({ call, outcome }, milliseconds / 1000);
  };

  readonly forwarded = ({ outcome, milliseconds }: ForwardedEvent): void => {
    this.#proxied.observe({ outcome }, milliseconds / 1000);
  };

  /** @param usd price of the upload that failed */
  credited(usd: number): void {
    this.#credits.inc();
    this.#creditedUsd.inc(usd);
  }

  /** Counts an event of the log. */
  logged(entry: object): void {
    const { event, code, ms } = entry as { event?: unknown; code?: unknown; ms?: unknown };
    if (typeof event !== 'string') return;
    this.#events.inc({ event });
    if (event === 'ingest_done') {
      this.#jobsEnded.inc({ state: 'searchable', code: '' });
      if (typeof ms === 'number') this.#ingestSeconds.observe(ms / 1000);
    }
    if (event === 'ingest_failed') this.#jobsEnded.inc({ state: 'failed', code: String(code) });
  }

  /** Counts an event with others, at the latest before somebody reads: many at a time cost each of them half. */
  #later<Event>(count: (event: Event) => void): (event: Event) => void {
    return (event) => {
      this.#waiting.push(() => count(event));
      if (this.#waiting.length >= WAITING_MAX) this.#countWaiting();
      else this.#timer ??= setTimeout(() => this.#countWaiting(), WAIT_MS).unref();
    };
  }

  #countWaiting(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const count of waiting) count();
  }

  #counter<L extends string>(name: string, help: string, labelNames: L[]): Counter<L> {
    return new Counter({ name: `farthing_${name}`, help, labelNames, registers: [this.registry] });
  }

  #histogram<L extends string>(name: string, help: string, labelNames: L[], buckets = SECONDS): Histogram<L> {
    return new Histogram({ name: `farthing_${name}`, help, labelNames, buckets, registers: [this.registry] });
  }
}

/** A registry that is read once all is counted. */
class ReadyRegistry extends Registry {
  readonly #count: () => void;

  constructor(count: () => void) {
    super();
    this.#count = count;
  }

  override metrics(): Promise<string> {
    this.#count();
    return super.metrics();
  }

  override getMetricsAsJSON(): ReturnType<Registry['getMetricsAsJSON']> {
    this.#count();
    return super.getMetricsAsJSON();
  }
}

/** Gauges of prom-client that are named like counters; the series by type say the same. */
const MISNAMED = ['handles', 'requests', 'resources'].map((what) => `nodejs_active_${what}_total`);

/** Rare events that alerts watch: shown from the start, as zero. */
const WATCHED_EVENTS = [
  'encode_worker_lost',
  'encode_failed',
  'provider_lost',
  'provider_rejected',
  'previous_model_missing',
  'models_differ',
  'facilitator_trouble',
  'fault',
  'unhandled_rejection',
  'sweep_failed',
  'ingest_stuck',
  'log_answer_lost',
  'objects_unavailable',
];
const WATCHED_REFUSALS = [
  ['503', 'overloaded'],
  ['503', 'facilitator_unavailable'],
  ['503', 'settlement_too_dear'],
  ['503', 'books_unavailable'],
  ['503', 'objects_unavailable'],
  ['500', 'internal'],
  ['500', 'shard_corrupt'],
  ['507', 'storage_full'],
] as const;
