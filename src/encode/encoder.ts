import type { Block, PictureSpec, Pixels } from '../domain/document.ts';
import { FarthingError } from '../domain/error.ts';
import type { FusionSettings } from '../domain/fusion.ts';
import {
  type FamilyReport,
  familiesOf,
  fusionOf,
  type SpaceSpec,
  spacesOf,
  withLoss,
  withRejections,
} from './models/described.ts';
import type { ProviderChoice } from './models/device.ts';
import type { Manifest } from './models/manifest.ts';
import type { Towers } from './models/tower.ts';
import { type CutPassage, type Passage, placePassages, sliceBlocks } from './text/passage.ts';
import type { settle } from './workers/available-towers.ts';
import { Dispatcher, type EncoderCounters, taskBounds } from './workers/dispatcher.ts';
import { CutJob, type EncoderTask, PictureJob, type RowPart, TextJob, type Vectors } from './workers/job.ts';
import type { WorkerCounts } from './workers/worker-counts.ts';
import { type Chosen, pictureBytes, pictureRows, type Workers } from './workers/workers.ts';

export type { FamilyReport, SpaceSpec } from './models/described.ts';
export type { ProviderChoice } from './models/device.ts';
export type { FilledSpace } from './models/previous-model.ts';
export type { Passage } from './text/passage.ts';
export type { EncoderCounters } from './workers/dispatcher.ts';
export type { EncoderTask } from './workers/job.ts';

export interface EncodeOptions {
  readonly tenant: string;
  readonly signal?: AbortSignal;
  /** Hears of each task that did some of it. */
  readonly onTask?: (task: EncoderTask) => void;
}

export interface IngestOptions extends EncodeOptions {
  /** Called with the number of rows done, after each task. */
  readonly onProgress?: (done: number) => void;
}

/** Texts and pictures to vectors, on worker threads. Every vector has unit length. */
export interface Encoder {
  readonly spaces: readonly SpaceSpec[];
  /** What pictures must look like; undefined without a picture model. */
  readonly pictureSpec: PictureSpec | undefined;
  readonly families: readonly FamilyReport[];
  readonly fusion: FusionSettings;
  /** Worker threads of each role. */
  readonly workers: WorkerCounts;
  /** Passages of at most the model's token limit, cut at paragraph and sentence ends, each with its document's title. */
  cutPassages(
    document: { readonly title?: string; readonly blocks: readonly Block[] },
    options?: { readonly tenant?: string; readonly signal?: AbortSignal },
  ): Promise<Passage[]>;
  /** By space; without a text model nothing. @throws FarthingError `overloaded` */
  encodeQuery(text: string, options: EncodeOptions): Promise<Record<string, Float32Array>>;
  /** By space; without a picture model nothing. */
  encodeQueryPicture(pixels: Pixels, options: EncodeOptions): Promise<Record<string, Float32Array>>;
  /** By space, in the order of the texts: `words` of passages. */
  encodePassages(texts: readonly string[], options: IngestOptions): Promise<Record<string, Float32Array[]>>;
  encodePictures(
    pictures: readonly Pixels[],
    options: IngestOptions,
  ): Promise<Record<string, Float32Array[]>>;
  queueDepths(): { queries: number; ingest: number };
  counters(): EncoderCounters;
  /** False once no worker is left that could be given work. */
  serving(): boolean;
  /** @throws FarthingError `overloaded` or `not_ready` when a query could not be queued now: asked before money moves. */
  admitQuery(): void;
  admitIngest(): void;
  /** Waits for queries and for the tasks that run; what an ingest still waits for is refused with `interrupted`. */
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
  /** A query that would wait longer is refused at once. Absent: however long. */
  readonly queryWaitMsMax?: number;
  readonly ingestQueueMax: number;
  /** Default `auto`; any other that cannot serve stops the start. */
  readonly provider?: ProviderChoice;
  readonly log: (event: object) => void;
  /** Hears that the workers have begun to open their sessions. */
  readonly onBegun?: () => void;
  readonly onTask?: (task: EncoderTask) => void;
  /** What an operator must see; absent: logged like the rest. */
  readonly alarm?: (event: object) => void;
}

/** The encoder over workers that were started for it. */
export class WorkerEncoder implements Encoder {
  readonly spaces: readonly SpaceSpec[];
  readonly pictureSpec: PictureSpec | undefined;
  readonly fusion: FusionSettings;
  readonly workers: WorkerCounts;
  #families: readonly FamilyReport[];
  readonly #dispatcher: Dispatcher;
  readonly #queryParts: readonly RowPart[];
  readonly #passageParts: readonly RowPart[];
  readonly #pictureParts: readonly RowPart[];
  readonly #limits: { readonly query: number; readonly passage: number };
  readonly #pictureBytes: number;

  /** @param opened what the workers were started with: tasks name text towers by their place there */
  constructor(
    manifest: Manifest,
    opened: Towers,
    settled: ReturnType<typeof settle>,
    workers: Workers,
    options: EncoderOptions,
    rejected: Chosen['rejected'],
  ) {
    const { towers } = settled;
    const { picture } = towers;
    this.spaces = spacesOf(towers);
    const warmups = new Map(workers.reports.map((report) => [report.model, report]));
    this.#families = withRejections(familiesOf(towers, settled.missing, warmups), rejected);
    this.fusion = fusionOf(manifest, towers);
    this.pictureSpec = picture && pictureSpecOf(picture.settings);
    const at = (tower: Towers['texts'][number]) =>
      opened.texts.findIndex(({ model }) => model === tower.model);
    const passage = towers.texts.filter(({ passageSpace }) => passageSpace);
    this.#queryParts = towers.texts.map(({ querySpaces, settings }) => ({
      spaces: querySpaces,
      dimensions: settings.dimensions,
    }));
    this.#passageParts = passage.map(({ passageSpace, settings }) => ({
      spaces: [passageSpace!],
      dimensions: settings.dimensions,
    }));
    this.#pictureParts = picture ? picturePartsOf(picture) : [];
    this.#limits = { query: longest(towers.texts), passage: longest(passage) };
    this.#pictureBytes = picture ? pictureBytes(picture.settings) : 0;
    const { slots, opening } = workers;
    const count = (role: 'query' | 'ingest') =>
      [...slots, ...opening].filter((slot) => slot.role === role).length;
    this.workers = { query: count('query'), ingest: count('ingest') };
    const { queryQueueMax, queryWaitMsMax, ingestQueueMax, log, onTask } = options;
    const towersOf = { query_texts: towers.texts.map(at), passage_texts: passage.map(at) };
    this.#dispatcher = new Dispatcher({
      slots,
      opening,
      queryQueueMax,
      queryWaitMsMax,
      ingestQueueMax,
      log,
      onTask,
      bounds: boundsOf(towers),
      towers: towersOf,
      models: [...towers.texts, ...(picture ? [picture] : [])].map(({ model }) => model),
      onLoss: (loss) => {
        const families = withLoss(this.#families, loss);
        if (families === this.#families) return;
        this.#families = families;
        (options.alarm ?? log)({ event: 'provider_lost', ...loss, serving: 'cpu' });
      },
    });
  }

  get families(): readonly FamilyReport[] {
    return this.#families;
  }

  async cutPassages(
    { title, blocks }: { readonly title?: string; readonly blocks: readonly Block[] },
    { tenant = '', signal }: { readonly tenant?: string; readonly signal?: AbortSignal } = {},
  ): Promise<Passage[]> {
    const slices = sliceBlocks(blocks);
    if (slices.length === 0) return [];
    const cut = await this.#dispatcher.ingest(new CutJob<CutPassage>(title, slices, { tenant, signal }));
    return placePassages(cut.flat());
  }

  async encodeQuery(text: string, options: EncodeOptions): Promise<Record<string, Float32Array>> {
    if (this.#queryParts.length === 0) return {};
    return firsts(
      await this.#dispatcher.query(
        new TextJob('query_texts', [text], this.#limits.query, this.#queryParts, options),
      ),
    );
  }

  async encodeQueryPicture(pixels: Pixels, options: EncodeOptions): Promise<Record<string, Float32Array>> {
    if (this.#pictureParts.length === 0) return {};
    const job = new PictureJob('query_pictures', [this.#checked(pixels)], this.#pictureParts, options);
    const { visual_picture: vectors } = await this.#dispatcher.query(job);
    return firsts({ visual_picture: vectors! });
  }

  async encodePassages(
    texts: readonly string[],
    options: IngestOptions,
  ): Promise<Record<string, Float32Array[]>> {
    return this.#all(
      this.#passageParts,
      texts,
      (parts) => new TextJob('passage_texts', texts, this.#limits.passage, parts, options),
    );
  }

  async encodePictures(
    pictures: readonly Pixels[],
    options: IngestOptions,
  ): Promise<Record<string, Float32Array[]>> {
    const checked = this.#pictureParts.length === 0 ? [] : pictures.map((pixels) => this.#checked(pixels));
    return this.#all(
      this.#pictureParts,
      checked,
      (parts) => new PictureJob('ingest_pictures', checked, parts, options),
    );
  }

  async #all(
    parts: readonly RowPart[],
    entries: readonly unknown[],
    job: (parts: readonly RowPart[]) => TextJob | PictureJob,
  ): Promise<Vectors> {
    if (parts.length === 0) return {};
    if (entries.length === 0)
      return Object.fromEntries(parts.flatMap(({ spaces }) => spaces.map((space) => [space, []])));
    return this.#dispatcher.ingest(job(parts));
  }

  #checked({ rgb }: Pixels): Uint8Array {
    if (rgb.length === this.#pictureBytes) return rgb;
    throw new FarthingError(
      'internal',
      `A picture has ${rgb.length} bytes of pixels, and the model takes ${this.#pictureBytes}.`,
    );
  }

  queueDepths(): { queries: number; ingest: number } {
    return this.#dispatcher.depths();
  }

  counters(): EncoderCounters {
    return this.#dispatcher.counters;
  }

  serving(): boolean {
    return this.#dispatcher.serving;
  }

  admitQuery(): void {
    this.#dispatcher.admitQuery();
  }

  admitIngest(): void {
    this.#dispatcher.admitIngest();
  }

  close(): Promise<void> {
    return this.#dispatcher.close();
  }
}

function pictureSpecOf({ width, height, fit, resample }: PictureSpec): PictureSpec {
  return { width, height, fit, resample };
}

function picturePartsOf({ settings, bridge }: NonNullable<Towers['picture']>): RowPart[] {
  const parts: RowPart[] = [{ spaces: ['visual_picture'], dimensions: settings.dimensions }];
  if (bridge) parts.push({ spaces: ['visual_words'], dimensions: bridge.dimensions });
  return parts;
}

function longest(towers: Towers['texts']): number {
  return Math.max(1, ...towers.map(({ settings }) => settings.limit));
}

/**
 * What one task of an ingest holds where a run has one row: many short texts, so that the way to the worker and back costs
 * little, but no more tokens than two long passages, so that work is shared evenly and given up soon.
 */
const INGEST_TASK = { entries: 16, tokens: 512 };

function boundsOf({ texts, picture }: Towers) {
  const candidates = texts.map((tower) => tower.candidates[0]!);
  const tokens = Math.min(...candidates.map(({ runTokens }) => runTokens));
  const least = (rows: readonly number[]) => (rows.length > 0 ? Math.min(...rows) : 1);
  const pictures = picture ? pictureRows(picture) : 1;
  return {
    query_texts: taskBounds(least(candidates.map(({ queryRows }) => queryRows)), tokens),
    passage_texts: ingestBounds(least(candidates.map(({ ingestRows }) => ingestRows)), tokens),
    query_pictures: taskBounds(pictures, pictures),
    ingest_pictures: taskBounds(pictures, pictures),
    cut: taskBounds(1, 1),
  };
}

function ingestBounds(rows: number, tokens: number) {
  return rows > 1 ? taskBounds(rows, tokens) : taskBounds(INGEST_TASK.entries, INGEST_TASK.tokens);
}

function firsts(vectors: Vectors): Record<string, Float32Array> {
  return Object.fromEntries(Object.entries(vectors).map(([space, rows]) => [space, rows[0]!]));
}
