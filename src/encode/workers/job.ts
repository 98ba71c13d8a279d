import { FarthingError } from '../../domain/error.ts';
import type { SpaceName } from '../models/tower.ts';
import type { PlacedBlock } from './protocol.ts';
import type { Work } from './work-queue.ts';

/** Work of one kind shares tasks: the same towers and use. */
export type JobKind = 'query_texts' | 'passage_texts' | 'query_pictures' | 'ingest_pictures' | 'cut';

/** One part of a worker's row: its length, and the spaces whose vector it is. */
export interface RowPart {
  readonly spaces: readonly SpaceName[];
  readonly dimensions: number;
}

export interface JobOptions {
  readonly tenant: string;
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number) => void;
  /** Hears of each task that did some of it. */
  readonly onTask?: (task: EncoderTask) => void;
}

/** One task of a worker, for whoever measures. */
export interface EncoderTask {
  readonly kind: JobKind;
  /** Texts, pictures or slices done together. */
  readonly entries: number;
  readonly milliseconds: number;
  /** The longest that one of them waited for a worker. */
  readonly waitedMs: number;
}

export type Vectors = Record<string, Float32Array[]>;

/** A call that waits for its entries, which several tasks may do. `entries` are the indices that its caller counts by. */
abstract class Job<Result> implements Work<number> {
  readonly tenant: string;
  readonly kind: JobKind;
  readonly entries: readonly number[];
  readonly result: Promise<Result>;
  /** Milliseconds of `performance.now()`. */
  readonly madeAt = performance.now();
  readonly onTask: ((task: EncoderTask) => void) | undefined;
  readonly #signal: AbortSignal | undefined;
  readonly #onProgress: ((done: number) => void) | undefined;
  #left: number;
  #ended = false;
  #resolve!: (result: Result) => void;
  #reject!: (error: unknown) => void;
  readonly #onAbort = () => this.fail(this.#signal?.reason);

  constructor(kind: JobKind, entries: readonly number[], { tenant, signal, onProgress, onTask }: JobOptions) {
    this.kind = kind;
    this.tenant = tenant;
    this.entries = entries;
    this.#left = entries.length;
    this.#signal = signal;
    this.#onProgress = onProgress;
    this.onTask = onTask;
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // A job that is refused a place is never awaited: its failure is its caller's already.
    this.result.catch(() => {});
    if (signal?.aborted) this.fail(signal.reason);
    else signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  abstract cost(entry: number): number;
  protected abstract finished(): Result;

  cancelled(): boolean {
    return this.#ended;
  }

  /** Some entries are done. */
  protected advance(count: number): void {
    if (this.#ended) return;
    this.#left -= count;
    this.#onProgress?.(this.entries.length - this.#left);
    if (this.#left > 0) return;
    this.#end();
    this.#resolve(this.finished());
  }

  fail(error: unknown): void {
    if (this.#ended) return;
    this.#end();
    this.#reject(error ?? new FarthingError('interrupted', 'The work was given up.'));
  }

  #end(): void {
    this.#ended = true;
    this.#signal?.removeEventListener('abort', this.#onAbort);
  }
}

abstract class VectorJob extends Job<Vectors> {
  readonly #parts: readonly RowPart[];
  readonly #vectors: Vectors;

  constructor(kind: JobKind, entries: readonly number[], parts: readonly RowPart[], options: JobOptions) {
    super(kind, entries, options);
    this.#parts = parts;
    this.#vectors = Object.fromEntries(
      parts.flatMap(({ spaces }) => spaces.map((space) => [space, new Array<Float32Array>(entries.length)])),
    );
  }

  /** Whether a row holds a vector of this space. */
  has(space: SpaceName): boolean {
    return this.#parts.some(({ spaces }) => spaces.includes(space));
  }

  /** Length of a worker's row. */
  get stride(): number {
    return this.#parts.reduce((sum, { dimensions }) => sum + dimensions, 0);
  }

  /** Copies rows out of a worker's memory, which its next task will write over. */
  take(entries: readonly number[], rows: Float32Array): void {
    const stride = this.stride;
    entries.forEach((entry, row) => {
      let offset = row * stride;
      for (const { spaces, dimensions } of this.#parts) {
        const vector = rows.slice(offset, offset + dimensions);
        for (const space of spaces) this.#vectors[space]![entry] = vector;
        offset += dimensions;
      }
    });
    this.advance(entries.length);
  }

  protected finished(): Vectors {
    return this.#vectors;
  }
}

/** Characters of a token, about: what a pull's budget is reckoned with before the text is tokenised. */
const TOKEN_CHARACTERS = 4;
/** No token is longer, nearly: more of a text than this many characters a token is over every limit. */
export const TOKEN_CHARACTERS_MAX = 16;

export class TextJob extends VectorJob {
  readonly texts: readonly string[];
  readonly #limit: number;

  /** @param limit tokens that the model takes of a text */
  constructor(
    kind: 'query_texts' | 'passage_texts',
    texts: readonly string[],
    limit: number,
    parts: readonly RowPart[],
    options: JobOptions,
  ) {
    const longestFirst = [...texts.keys()].sort((a, b) => texts[b]!.length - texts[a]!.length || a - b);
    super(kind, longestFirst, parts, options);
    this.texts = texts;
    this.#limit = limit;
  }

  text(entry: number): string {
    return this.texts[entry]!.slice(0, this.#limit * TOKEN_CHARACTERS_MAX);
  }

  cost(entry: number): number {
    return Math.min(this.#limit, 2 + Math.ceil(this.texts[entry]!.length / TOKEN_CHARACTERS));
  }
}

export class PictureJob extends VectorJob {
  readonly pictures: readonly Uint8Array[];

  constructor(
    kind: 'query_pictures' | 'ingest_pictures',
    pictures: readonly Uint8Array[],
    parts: readonly RowPart[],
    options: JobOptions,
  ) {
    super(kind, [...pictures.keys()], parts, options);
    this.pictures = pictures;
  }

  cost(): number {
    return 1;
  }
}

/** A document in slices of whole blocks: each slice is one entry, and one task. */
export class CutJob<Cut> extends Job<Cut[][]> {
  readonly title: string | undefined;
  readonly slices: readonly (readonly PlacedBlock[])[];
  readonly #cut: Cut[][];

  constructor(title: string | undefined, slices: readonly (readonly PlacedBlock[])[], options: JobOptions) {
    super('cut', [...slices.keys()], options);
    this.title = title;
    this.slices = slices;
    this.#cut = new Array<Cut[]>(slices.length);
  }

  take(slice: number, passages: Cut[]): void {
    this.#cut[slice] = passages;
    this.advance(1);
  }

  cost(): number {
    return 1;
  }

  protected finished(): Cut[][] {
    return this.#cut;
  }
}
