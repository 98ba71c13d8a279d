import { awaitCrossing, crossing, fromNative, native, type Vocabulary } from '@farthing/native';
import type { Candidate, TextTower } from '../models/tower.ts';
import type { Runner, RunTotals, Use } from '../session/runner.ts';
import { PROBE_TEXT } from './probe.ts';

type Encoder = Awaited<ReturnType<typeof native.NativeTextEncoder.open>>;
type QueryBounds = ConstructorParameters<typeof native.QueryQueue>[2];
type Encoded = NonNullable<Parameters<Parameters<Encoder['listen']>[0]>[1]>;

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
   * @param threads whose threads encode; absent: those of `use`
   */
  async encode(
    texts: readonly string[],
    use: Use,
    target: Float32Array,
    offset: number,
    stride: number,
    threads: Use = use,
  ): Promise<RunTotals> {
    const { query_prefix, passage_prefix } = this.#tower.settings;
    const prefix = use === 'query' ? query_prefix : passage_prefix;
    const { vectors, runs, tokens, threadMs, sinceMs } = await this.#calls.begin((call) =>
      crossing(() => this.#encoder.encode(call, texts as string[], prefix, threads)),
    );
    this.#threadMs += threadMs;
    const size = this.dimensions;
    for (const row of texts.keys())
      target.set(vectors.subarray(row * size, (row + 1) * size), offset + row * stride);
    return { runs, tokens, padding: 0, sinceMs };
  }

  /** A queue of the model's queries. @param name other JavaScript threads have it by this name */
  queueOf(
    bounds: QueryBounds,
    vocabulary: Vocabulary | undefined,
    name?: string,
  ): InstanceType<typeof native.QueryQueue> {
    const { query_prefix } = this.#tower.settings;
    return crossing(() => new native.QueryQueue(this.#encoder, query_prefix, bounds, vocabulary, name));
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
  readonly #waiting = new Map<number, PromiseWithResolvers<Encoded>>();
  #number = 0;

  listenTo(encoder: Encoder): void {
    const waiting = this.#waiting;
    encoder.listen((call, encoded, error) => {
      const ended = waiting.get(call);
      waiting.delete(call);
      if (encoded) ended?.resolve(encoded);
      else ended?.reject(fromNative(new Error(error ?? '')));
    });
  }

  /** Rejects with what `begins` throws, too. */
  async begin(begins: (call: number) => void): Promise<Encoded> {
    this.#number = (this.#number + 1) >>> 0;
    begins(this.#number);
    const call = Promise.withResolvers<Encoded>();
    this.#waiting.set(this.#number, call);
    return call.promise;
  }
}
