import type { Vocabulary } from '@farthing/native';
import type { Block, PictureSpec } from '@farthing/protocol/document';
import type { EncoderInput, InputKind } from '@farthing/protocol/family';
import type { ProviderChoice } from './models/device.ts';
import type { Manifest } from './models/manifest.ts';
import { type ServedSpace, servedSpaces, withLoss, withRejections } from './models/served-spaces.ts';
import { type Failure, type Missing, pictureTowerOf, type Towers } from './models/tower.ts';
import { type Passage, placePassages, sliceBlocks } from './text/passage.ts';
import { TextQueries } from './text/text-queries.ts';
import type { Translation } from './text/translation.ts';
import type { AvailableTowers, SharedModels } from './workers/available-towers.ts';
import { Dispatcher, type EncoderCounters } from './workers/dispatcher.ts';
import {
  CutJob,
  type EncoderTask,
  InputJob,
  type JobOptions,
  TextJob,
  type VectorJob,
  type Vectors,
} from './workers/job.ts';
import { indexIn, type WorkKind, type WorkKinds, workKindsOf } from './workers/work-kinds.ts';
import type { WorkerCounts } from './workers/worker-counts.ts';
import type { Workers } from './workers/workers.ts';

export type { ProviderChoice } from './models/device.ts';
export type { ServedSpace } from './models/served-spaces.ts';
export type { Missing } from './models/tower.ts';
export type { Passage } from './text/passage.ts';
export type { EncoderCounters } from './workers/dispatcher.ts';
export type { EncoderTask } from './workers/job.ts';

export interface EncodeOptions {
  readonly tenant: string;
  readonly signal?: AbortSignal;
  /** Called with each task that did some of it. */
  readonly onTask?: (task: EncoderTask) => void;
}

export interface QueryOptions extends EncodeOptions {
  /** Longest estimated wait, in milliseconds, of one that may wait for longer than others. */
  readonly waitMsMax?: number;
}

export interface IngestOptions extends EncodeOptions {
  /** Called with the number of rows done, after each task. */
  readonly onProgress?: (done: number) => void;
}

/**
 * Texts and pictures to vectors, on worker threads. Every vector has unit length. Vectors are given by the key of their space;
 * a space without its model is left out.
 */
export interface Encoder {
  /** The vector spaces that are served. Replaced by a new array when a provider is lost. */
  readonly spaces: readonly ServedSpace[];
  /** The text space of an index that begins in a language which the model in use does not know; its model opens when it is needed. */
  readonly otherLanguages?: ServedSpace;
  /** Translation of picture descriptions in other languages into the space of their labels; absent: none. */
  readonly translation?: Translation;
  /** For other JavaScript threads; absent where words are not the native encoder's alone. */
  readonly shared?: SharedModels;
  /** Queries that no space answers, with the reasons. */
  readonly missing: readonly Missing[];
  /** How the manifest fuses lists. */
  readonly fusion: Manifest['fusion'];
  /** Input format of pictures; undefined without a picture model. */
  readonly pictureSpec: PictureSpec | undefined;
  /** Number of worker threads of each role. */
  readonly workers: WorkerCounts;
  /** Cuts a document at paragraph and sentence ends into passages of at most the model's tokens, each with the title. */
  cutPassages(
    document: { readonly title?: string; readonly blocks: readonly Block[] },
    options?: { readonly tenant?: string; readonly signal?: AbortSignal },
  ): Promise<Passage[]>;
  /** @throws FarthingError `overloaded` */
  encodeQuery<K extends InputKind>(
    kind: K,
    input: EncoderInput<K>,
    options: QueryOptions,
  ): Promise<Record<string, Float32Array>>;
  /** Searches of words that go on where their text is encoded. Absent where another than the native encoder takes part. */
  readonly wordsSearches?: Pick<TextQueries, 'search' | 'begin'> | undefined;
  /** The words that the text models here know: hardly any is a slip of another. Absent with an encoder of one index's space. */
  readonly vocabulary: Vocabulary | undefined;
  /** Rows of an index, in the order of the inputs. */
  encodeIngest<K extends InputKind>(
    kind: K,
    inputs: readonly EncoderInput<K>[],
    options: IngestOptions,
  ): Promise<Record<string, Float32Array[]>>;
  queueDepths(): { queries: number; ingest: number };
  counters(): EncoderCounters;
  /** False once no worker is left. */
  serving(): boolean;
  /** Called before money moves. @throws FarthingError `overloaded` or `not_ready` when a query could not be queued now */
  admitQuery(kind: InputKind, options: Pick<QueryOptions, 'tenant' | 'waitMsMax'>): void;
  admitIngest(options: Pick<IngestOptions, 'tenant'>): void;
  /** Waits for queries and running tasks. Waiting work of ingests is refused with `interrupted`. */
  close(): Promise<void>;
}

export interface EncoderOptions {
  readonly modelsFolder: string;
  /** For hashes of verified files, embeddings of labels and optimised graphs; may be emptied at any time. */
  readonly cacheFolder: string;
  /** Absent: as many as this machine can use. */
  readonly queryWorkers?: number;
  readonly ingestWorkers?: number;
  readonly queryQueueMax: number;
  /** Milliseconds; a query whose estimated wait is longer is refused at once. Absent: no limit. */
  readonly queryWaitMsMax?: number;
  readonly ingestQueueMax: number;
  /** Default `auto`; a start fails if any other provider cannot serve. */
  readonly provider?: ProviderChoice;
  readonly log: (event: object) => void;
  /** Called when the workers begin to open their sessions. */
  readonly onBegun?: () => void;
  readonly onTask?: (task: EncoderTask) => void;
  /** Receives what an operator must see; absent: it is logged. */
  readonly alarm?: (event: object) => void;
}

/** The parts of an encoder that need no workers. */
export type MoreOfEncoder = Partial<
  Pick<Encoder, 'otherLanguages' | 'translation' | 'vocabulary' | 'shared'>
>;

/** The encoder over workers that were started for it. */
export class WorkerEncoder implements Encoder {
  readonly otherLanguages?: ServedSpace;
  readonly translation?: Translation;
  readonly shared?: SharedModels;
  readonly missing: readonly Missing[];
  readonly fusion: Manifest['fusion'];
  readonly pictureSpec: PictureSpec | undefined;
  readonly workers: WorkerCounts;
  readonly vocabulary: Vocabulary | undefined;
  #spaces: readonly ServedSpace[];
  readonly #dispatcher: Dispatcher;
  readonly #kinds: WorkKinds;
  /** Queries of texts, where one native model encodes them. */
  readonly #texts: TextQueries | undefined;

  /** @param opened the towers that the workers were started with: tasks name towers by their index there */
  constructor(
    manifest: Manifest,
    opened: Towers,
    { towers, missing }: AvailableTowers,
    { threads, reports, natives }: Workers,
    options: EncoderOptions,
    rejected: readonly Failure[],
    { otherLanguages, translation, vocabulary, shared }: MoreOfEncoder = {},
  ) {
    if (shared) this.shared = shared;
    if (otherLanguages) this.otherLanguages = otherLanguages;
    if (translation) this.translation = translation;
    const spaces = servedSpaces(manifest, towers, (tower) => reports[indexIn(opened, tower)]?.warmupMs);
    this.#spaces = withRejections(spaces, rejected);
    this.missing = missing;
    this.fusion = manifest.fusion;
    this.pictureSpec = pictureSpecOf(towers);
    const count = (role: 'query' | 'ingest') => threads.filter((thread) => thread.role === role).length;
    this.workers = { query: count('query'), ingest: count('ingest') };
    this.#kinds = workKindsOf(towers, opened);
    this.vocabulary = vocabulary;
    const { queryQueueMax, queryWaitMsMax, ingestQueueMax, log, onTask, alarm = log } = options;
    const texts = this.#kinds.of('query', 'text');
    const runner = texts?.towers.length === 1 ? natives[texts.towers[0]!] : undefined;
    const { query, ingest } = this.workers;
    const bounds = { waitingMax: queryQueueMax, waitMsMax: queryWaitMsMax, threads: query, helpers: ingest };
    const queries =
      texts &&
      runner &&
      new TextQueries(runner, {
        ...bounds,
        bounds: texts.bounds,
        vocabulary,
        name: shared?.queue,
        log,
        onTask,
      });
    this.#texts = queries;
    this.#dispatcher = new Dispatcher({
      ...(queries && { asksElsewhere: (ms) => queries.wasAskedWithin(ms) }),
      threads,
      queryQueueMax,
      queryWaitMsMax,
      ingestQueueMax,
      log,
      onTask,
      boundsOf: this.#kinds.boundsOf,
      models: towers.map(({ model }) => model),
      onLoss: (loss) => {
        const after = withLoss(this.#spaces, loss);
        if (after === this.#spaces) return;
        this.#spaces = after;
        alarm({ event: 'provider_lost', ...loss, serving: 'cpu' });
      },
    });
  }

  get spaces(): readonly ServedSpace[] {
    return this.#spaces;
  }

  async cutPassages(
    { title, blocks }: { readonly title?: string; readonly blocks: readonly Block[] },
    { tenant = '', signal }: { readonly tenant?: string; readonly signal?: AbortSignal } = {},
  ): Promise<Passage[]> {
    const slices = sliceBlocks(blocks);
    if (slices.length === 0) return [];
    const cut = await this.#dispatcher.ingest(new CutJob(title, slices, { tenant, signal }));
    return placePassages(cut.flat());
  }

  async encodeQuery<K extends InputKind>(
    kind: K,
    input: EncoderInput<K>,
    options: QueryOptions,
  ): Promise<Record<string, Float32Array>> {
    const work = this.#kinds.of('query', kind);
    if (!work) return {};
    if (kind === 'text' && this.#texts) {
      const vector = await this.#texts.encode(input as string, options);
      return Object.fromEntries(work.parts[0]!.spaces.map((space) => [space, vector]));
    }
    const vectors = await this.#dispatcher.query(jobOf(work, [input], options));
    return Object.fromEntries(Object.entries(vectors).map(([space, rows]) => [space, rows[0]!]));
  }

  async encodeIngest<K extends InputKind>(
    kind: K,
    inputs: readonly EncoderInput<K>[],
    options: IngestOptions,
  ): Promise<Vectors> {
    const work = this.#kinds.of('ingest', kind);
    if (!work) return {};
    if (inputs.length === 0)
      return Object.fromEntries(work.parts.flatMap(({ spaces }) => spaces.map((space) => [space, []])));
    return this.#dispatcher.ingest(jobOf(work, inputs, options));
  }

  queueDepths(): { queries: number; ingest: number } {
    const { queries, ingest } = this.#dispatcher.depths();
    return { queries: queries + (this.#texts?.depth ?? 0), ingest };
  }

  counters(): EncoderCounters {
    const { counters } = this.#dispatcher;
    if (!this.#texts) return counters;
    const { tasks, runs, tokens, workerFailures, repeatedPieces } = this.#texts.counters;
    return {
      tasks: counters.tasks + tasks,
      runs: counters.runs + runs,
      tokens: counters.tokens + tokens,
      padding: counters.padding,
      workerFailures: counters.workerFailures + workerFailures,
      repeatedPieces: counters.repeatedPieces + repeatedPieces,
    };
  }

  serving(): boolean {
    return this.#dispatcher.serving;
  }

  admitQuery(kind: InputKind, options: Pick<QueryOptions, 'tenant' | 'waitMsMax'>): void {
    if (kind === 'text' && this.#texts) this.#texts.admit(options);
    else this.#dispatcher.admitQuery(options.tenant, options.waitMsMax);
  }

  get wordsSearches(): TextQueries | undefined {
    return this.#texts;
  }

  admitIngest({ tenant }: Pick<IngestOptions, 'tenant'>): void {
    this.#dispatcher.admitIngest(tenant);
  }

  async close(): Promise<void> {
    await Promise.all([this.#texts?.close(), this.#dispatcher.close()]);
  }
}

/** The spaces of all models that may fill a new index. */
export function fillingSpaces({
  spaces,
  otherLanguages,
}: Pick<Encoder, 'spaces' | 'otherLanguages'>): readonly ServedSpace[] {
  return otherLanguages ? [...spaces, otherLanguages] : spaces;
}

/** Texts are sent to the workers as messages, other inputs through shared memory. */
function jobOf(work: WorkKind, inputs: readonly (string | Uint8Array)[], options: JobOptions): VectorJob {
  return work.inputBytes === 0
    ? new TextJob(work, inputs as readonly string[], options)
    : new InputJob(work, inputs as readonly Uint8Array[], options);
}

function pictureSpecOf(towers: Towers): PictureSpec | undefined {
  const tower = pictureTowerOf(towers);
  if (!tower) return undefined;
  const { width, height, fit, resample } = tower.settings;
  return { width, height, fit, resample };
}
