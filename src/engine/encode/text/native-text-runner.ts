import {
  awaitCrossing,
  crossing,
  fromNative,
  native,
  type SearchedText,
  type TextSearched,
} from '@farthing/native';
import type { Candidate, TextTower } from '../models/tower.ts';
import type { Runner, RunTotals, Use } from '../session/runner.ts';
import { PROBE_TEXT } from './probe.ts';
import type { QuerySearch } from './query-search.ts';

type Encoder = Awaited<ReturnType<typeof native.NativeTextEncoder.open>>;
type Encoded = NonNullable<Parameters<Parameters<Encoder['listen']>[0]>[1]>;

interface NativeRunOptions {
  readonly searches?: readonly (QuerySearch | undefined)[];
  readonly threads?: Use;
}

/**
 * A text model on the native encoder's own threads. It may be used from any JavaScript thread: all of them share the weights,
 * which are packed once.
 */
export class NativeTextRunner implements Runner {
  readonly #tower: TextTower;
  readonly #encoder: Encoder;
  /** Calls that the encoder's threads work on. */
  readonly #calls = new Calls();
  #threadMs = 0;

  /** @throws FarthingError `models_invalid` with the reason when the native encoder does not run the model */
  static async open(tower: TextTower, candidate: Candidate): Promise<NativeTextRunner> {
    const { limit, special_tokens, dropped_tokens, dimensions, inputs, output, pooling } = {
      ...tower.settings,
      ...candidate.graph,
    };
    const graph = { ids: inputs.ids, mask: inputs.mask, types: inputs.types, output, pooling };
    const rules = { limit, specialTokens: special_tokens, dropped: dropped_tokens };
    const encoder = await awaitCrossing(() =>
      native.NativeTextEncoder.open(candidate.path, graph, tower.tokenizerPath, rules),
    );
    if (encoder.dimensions !== dimensions)
      throw new Error(`its vectors have ${encoder.dimensions} dimensions, not ${dimensions}`);
    return new NativeTextRunner(tower, encoder);
  }

  private constructor(tower: TextTower, encoder: Encoder) {
    this.#tower = tower;
    this.#encoder = encoder;
    this.#calls.listenTo(encoder);
  }

  get dimensions(): number {
    return this.#encoder.dimensions;
  }

  /**
   * Writes the vector of text i, of unit length, at `offset + i · stride` of `target`.
   * @param options.searches of text i, the search that continues with its vector
   * @param options.threads whose threads encode; absent: those of `use`
   */
  async encode(
    texts: readonly string[],
    use: Use,
    target: Float32Array,
    offset: number,
    stride: number,
    { searches = [], threads = use }: NativeRunOptions = {},
  ): Promise<RunTotals> {
    const { query_prefix, passage_prefix } = this.#tower.settings;
    const prefix = use === 'query' ? query_prefix : passage_prefix;
    const pending = searches.map((search) => search?.native);
    const { vectors, runs, tokens, threadMs, sinceMs } = await this.#calls.begin(searches, (call) =>
      crossing(() => this.#encoder.encode(call, texts as string[], prefix, threads, pending)),
    );
    this.#threadMs += threadMs;
    const size = this.dimensions;
    for (const row of texts.keys())
      target.set(vectors.subarray(row * size, (row + 1) * size), offset + row * stride);
    return { runs, tokens, padding: 0, sinceMs };
  }

  /** Milliseconds of processor time that the model has taken here. */
  processorMs(): number {
    return this.#threadMs;
  }

  async probe(): Promise<Float32Array> {
    const vector = new Float32Array(this.dimensions);
    await this.encode([PROBE_TEXT], 'query', vector, 0, vector.length);
    return vector;
  }
}

/** Calls of an encoder by their numbers. They do not reference the encoder, which holds its callbacks. */
class Calls {
  readonly #waiting = new Map<number, Call>();
  #number = 0;

  listenTo(encoder: Encoder): void {
    const waiting = this.#waiting;
    encoder.listen((call, encoded, error, searched) => {
      if (waiting.get(call)?.hear(encoded, error, searched)) waiting.delete(call);
    });
  }

  /** Rejects with what `begins` throws, too. */
  async begin(
    searches: readonly (QuerySearch | undefined)[],
    begins: (call: number) => void,
  ): Promise<Encoded> {
    this.#number = (this.#number + 1) >>> 0;
    begins(this.#number);
    const call = new Call(searches);
    this.#waiting.set(this.#number, call);
    return call.encoded;
  }
}

/** Texts that are encoded together, and the searches that go on with them. */
class Call {
  readonly encoded: Promise<Encoded>;
  readonly #searches: readonly (QuerySearch | undefined)[];
  readonly #running = new Map<number, (found: TextSearched) => void>();
  #end!: (encoded: Encoded | null, error: string | null) => void;

  constructor(searches: readonly (QuerySearch | undefined)[]) {
    this.#searches = searches;
    this.encoded = new Promise((resolve, reject) => {
      this.#end = (encoded, error) => {
        if (encoded) resolve(encoded);
        else reject(failure(error));
      };
    });
  }

  /** @returns whether nothing more is to come */
  hear(encoded: Encoded | null, error: string | null, searched: TextSearched | null): boolean {
    if (encoded) for (const [text, search] of this.#searches.entries()) search?.begun(this.#outcomeOf(text));
    if (encoded || error !== null) this.#end(encoded, error);
    if (searched) {
      this.#running.get(searched.text)?.(searched);
      this.#running.delete(searched.text);
    }
    return this.#running.size === 0;
  }

  #outcomeOf(text: number): Promise<SearchedText> {
    return new Promise((resolve, reject) => {
      this.#running.set(text, ({ searched, error }) => {
        if (searched) resolve(searched);
        else reject(failure(error));
      });
    });
  }
}

function failure(error: string | null | undefined): unknown {
  return fromNative(new Error(error ?? ''));
}
