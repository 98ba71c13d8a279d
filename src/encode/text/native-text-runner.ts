import { awaitCrossing, native } from '../../native/index.ts';
import type { Candidate, TextTower } from '../models/tower.ts';
import type { Runner, RunTotals, Use } from '../session/runner.ts';
import { longTexts, PROBE_TEXT } from './probe.ts';

type Encoder = Awaited<ReturnType<typeof native.NativeTextEncoder.open>>;

/**
 * A text model on the native encoder's own threads. It may be used from any JavaScript thread: all of them share the weights,
 * which are packed once.
 */
export class NativeTextRunner implements Runner {
  readonly #tower: TextTower;
  readonly #encoder: Encoder;
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
  }

  get dimensions(): number {
    return this.#encoder.dimensions;
  }

  /** Writes the vector of text i, of unit length, at `offset + i · stride` of `target`. */
  async encode(
    texts: readonly string[],
    use: Use,
    target: Float32Array,
    offset: number,
    stride: number,
  ): Promise<RunTotals> {
    const { query_prefix, passage_prefix } = this.#tower.settings;
    const prefix = use === 'query' ? query_prefix : passage_prefix;
    const { vectors, runs, tokens, threadMs } = await awaitCrossing(() =>
      this.#encoder.encode(texts as string[], prefix, use),
    );
    this.#threadMs += threadMs;
    const size = this.dimensions;
    for (const row of texts.keys())
      target.set(vectors.subarray(row * size, (row + 1) * size), offset + row * stride);
    return { runs, tokens, padding: 0 };
  }

  processorMs(): number {
    return this.#threadMs;
  }

  async probe(): Promise<Float32Array> {
    const vector = new Float32Array(this.dimensions);
    await this.encode([PROBE_TEXT], 'query', vector, 0, vector.length);
    return vector;
  }

  /** On the threads for queries: at the priority of passages it would be compared with what else runs on the machine. */
  async fullRun(rows: number): Promise<void> {
    const texts = longTexts(rows, this.#tower.settings.limit);
    await this.encode(texts, 'query', new Float32Array(rows * this.dimensions), 0, this.dimensions);
  }
}
