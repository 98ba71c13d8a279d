import { FarthingError } from '@farthing/protocol/error';
import type { CutPassage, PlacedBlock } from '../text/passage.ts';
import type { Piece, Work } from './batch-queue.ts';
import type { CutTask, EncodeTask } from './protocol.ts';
import type { WorkKind, WorkName } from './work-kinds.ts';

export interface JobOptions {
  readonly tenant: string;
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number) => void;
  /** Called with each task that did some of it. */
  readonly onTask?: (task: EncoderTask) => void;
  /** Queries only. */
  readonly waitMsMax?: number;
}

/** One task of a worker, as measured. */
export interface EncoderTask {
  readonly kind: WorkName;
  /** Texts, pictures or slices done together. */
  readonly entries: number;
  readonly milliseconds: number;
  /** Longest wait of one of them for a worker. */
  readonly waitedMs: number;
}

export type Vectors = Record<string, Float32Array[]>;

/** A call that waits for its entries, which several tasks may do. `entries` are indices into the caller's inputs. */
abstract class Job<Result> implements Work<number> {
  readonly tenant: string;
  readonly kind: WorkName;
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

  constructor(
    kind: WorkName,
    entries: readonly number[],
    { tenant, signal, onProgress, onTask }: JobOptions,
  ) {
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
    // A job that the queue refuses is never awaited: its caller has the failure already.
    this.result.catch(() => {});
    if (signal?.aborted) this.fail(signal.reason);
    else signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  abstract size(entry: number): number;
  abstract cost(entry: number): number;
  protected abstract finished(): Result;

  cancelled(): boolean {
    return this.#ended;
  }

  /** Counts entries that are done. */
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
    this.#reject(error ?? new FarthingError('interrupted', 'The work was cancelled.'));
  }

  #end(): void {
    this.#ended = true;
    this.#signal?.removeEventListener('abort', this.#onAbort);
  }
}

/** Vectors of inputs of one kind, by each tower of its kind of work. */
export abstract class VectorJob extends Job<Vectors> {
  /** Longest estimated wait of a query that may wait for longer than others. */
  readonly waitMsMax: number | undefined;
  protected readonly work: WorkKind;
  readonly #vectors: Vectors;

  constructor(work: WorkKind, entries: readonly number[], options: JobOptions) {
    super(work.name, entries, options);
    this.work = work;
    this.waitMsMax = options.waitMsMax;
    this.#vectors = Object.fromEntries(
      work.parts.flatMap(({ spaces }) =>
        spaces.map((space) => [space, new Array<Float32Array>(entries.length)]),
      ),
    );
  }

  /**
   * The task of a worker for pieces of jobs of this kind.
   * @param input the worker's memory for inputs of fixed size
   */
  abstract taskOf(pieces: readonly Piece<number>[], input: Uint8Array): EncodeTask;

  /** Length of a worker's row. */
  get stride(): number {
    return this.work.parts.reduce((sum, { dimensions }) => sum + dimensions, 0);
  }

  /** Copies rows out of a worker's memory, which its next task overwrites. */
  take(entries: readonly number[], rows: Float32Array): void {
    const stride = this.stride;
    entries.forEach((entry, row) => {
      let offset = row * stride;
      for (const { spaces, dimensions } of this.work.parts) {
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

/** Characters of a token, about: estimates the size of a text before it is tokenised. */
const TOKEN_CHARACTERS = 4;
/** Nearly no token is longer: characters beyond this many for each token of the limit are over every limit. */
export const TOKEN_CHARACTERS_MAX = 16;

export class TextJob extends VectorJob {
  readonly #texts: readonly string[];

  constructor(work: WorkKind, texts: readonly string[], options: JobOptions) {
    const longestFirst = [...texts.keys()].sort((a, b) => texts[b]!.length - texts[a]!.length || a - b);
    super(work, longestFirst, options);
    this.#texts = texts;
  }

  taskOf(pieces: readonly Piece<number>[]): EncodeTask {
    const { towers, use } = this.work;
    const texts = pieces.flatMap(({ work, entries }) =>
      entries.map((entry) => (work as TextJob).#text(entry)),
    );
    return { kind: 'texts', towers, use, texts };
  }

  #text(entry: number): string {
    return this.#texts[entry]!.slice(0, this.work.tokensMax * TOKEN_CHARACTERS_MAX);
  }

  size(entry: number): number {
    return Math.min(this.work.tokensMax, 2 + Math.ceil(this.#texts[entry]!.length / TOKEN_CHARACTERS));
  }

  cost(entry: number): number {
    return this.size(entry);
  }
}

/** A picture takes as long as so many tokens of a text, about. */
const PICTURE_COST = 256;

/** Vectors of inputs of one fixed size, as pixels. */
export class InputJob extends VectorJob {
  readonly #inputs: readonly Uint8Array[];

  /** @throws FarthingError `internal` for an input of another size */
  constructor(work: WorkKind, inputs: readonly Uint8Array[], options: JobOptions) {
    const wrong = inputs.find(({ length }) => length !== work.inputBytes);
    if (wrong)
      throw new FarthingError(
        'internal',
        `An input of ${work.name} has ${wrong.length} bytes, and the model takes ${work.inputBytes}.`,
      );
    super(work, [...inputs.keys()], options);
    this.#inputs = inputs;
  }

  taskOf(pieces: readonly Piece<number>[], input: Uint8Array): EncodeTask {
    const { towers, use, parts, inputBytes } = this.work;
    const inputs = pieces.flatMap(({ work, entries }) =>
      entries.map((entry) => (work as InputJob).#inputs[entry]!),
    );
    for (const [index, bytes] of inputs.entries()) input.set(bytes, index * inputBytes);
    return { kind: 'rows', tower: towers[0]!, use, count: inputs.length, bridged: parts.length > 1 };
  }

  size(): number {
    return 1;
  }

  cost(): number {
    return PICTURE_COST;
  }
}

/** Characters that are cut while a token is encoded, about: 65,536 take some ten milliseconds, and 256 tokens eight. */
const CUT_CHARACTERS = 200;

/** A document in slices of whole blocks: each slice is one entry, and one task. */
export class CutJob extends Job<CutPassage[][]> {
  readonly #title: string | undefined;
  readonly #slices: readonly (readonly PlacedBlock[])[];
  readonly #cut: CutPassage[][];

  constructor(title: string | undefined, slices: readonly (readonly PlacedBlock[])[], options: JobOptions) {
    super('cut', [...slices.keys()], options);
    this.#title = title;
    this.#slices = slices;
    this.#cut = new Array<CutPassage[]>(slices.length);
  }

  taskOf(slice: number): CutTask {
    const title = this.#title === undefined ? {} : { title: this.#title };
    return { ...title, blocks: this.#slices[slice]! };
  }

  take(slice: number, passages: CutPassage[]): void {
    this.#cut[slice] = passages;
    this.advance(1);
  }

  size(): number {
    return 1;
  }

  cost(slice: number): number {
    return this.#slices[slice]!.reduce((sum, { text }) => sum + text.length, 0) / CUT_CHARACTERS;
  }

  protected finished(): CutPassage[][] {
    return this.#cut;
  }
}
