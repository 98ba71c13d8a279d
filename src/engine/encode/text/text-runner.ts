import { native } from '@farthing/native';
import type { Candidate, TextTower } from '../models/tower.ts';
import { KeptTensor } from '../session/kept-tensor.ts';
import type { Runner, RunTotals, Use } from '../session/runner.ts';
import { type Output, paddedRows, type Session, toUnitLength } from '../session/session.ts';
import { groupByLength, type Run } from './grouping.ts';
import { PROBE_TEXT } from './probe.ts';

/** A text model in one worker: tokenises, runs, pools. Its tensors' memory is allocated once, for the largest run. */
export class TextRunner implements Runner {
  readonly #settings: TextTower['settings'];
  readonly #candidate: Candidate;
  readonly #session: Session;
  readonly #tokenizer: InstanceType<typeof native.TextTokenizer>;
  readonly #ids: KeptTensor<'int64'>;
  readonly #mask: KeptTensor<'int64'>;
  /** All zeros: each row is one text. */
  readonly #types: KeptTensor<'int64'>;

  constructor(tower: TextTower, candidate: Candidate, session: Session) {
    this.#settings = { ...tower.settings, ...candidate.graph };
    const { limit, special_tokens, dropped_tokens, inputs } = this.#settings;
    this.#candidate = candidate;
    this.#session = session;
    const { queryRows, ingestRows, runTokens, widths } = candidate;
    const widest = widths?.at(-1) ?? limit;
    const tokens = Math.max(widest, Math.min(runTokens, Math.max(queryRows, ingestRows) * widest));
    this.#ids = new KeptTensor('int64', tokens);
    this.#mask = new KeptTensor('int64', tokens);
    this.#types = new KeptTensor('int64', inputs.types ? tokens : 0);
    this.#tokenizer = new native.TextTokenizer(tower.tokenizerPath, {
      limit,
      specialTokens: special_tokens,
      dropped: dropped_tokens,
    });
  }

  get dimensions(): number {
    return this.#settings.dimensions;
  }

  /** Writes the vector of text i, of unit length, at `offset + i · stride` of `target`. */
  async encode(
    texts: readonly string[],
    use: Use,
    target: Float32Array,
    offset: number,
    stride: number,
  ): Promise<RunTotals> {
    const { query_prefix, passage_prefix } = this.#settings;
    const { queryRows, ingestRows, runTokens, paddingShare, widths } = this.#candidate;
    const batch = this.#tokenizer.encode(texts as string[], use === 'query' ? query_prefix : passage_prefix);
    const lengths = batch.lengths();
    const rows = use === 'query' ? queryRows : ingestRows;
    const totals = { runs: 0, tokens: 0, padding: 0 };
    for (const run of groupByLength(lengths, { rows, tokens: runTokens, paddingShare, widths })) {
      const output = await this.#run(batch, run);
      run.rows.forEach((row, index) => {
        const start = offset + row * stride;
        this.#pool(output, index, lengths[row]!, run.width, target.subarray(start, start + this.dimensions));
        totals.tokens += lengths[row]!;
        totals.padding += run.width - lengths[row]!;
      });
      totals.runs += 1;
    }
    return totals;
  }

  /** Milliseconds of processor time, from any start: ONNX Runtime computes on the calling thread. */
  processorMs(): number | undefined {
    return native.threadMs() ?? undefined;
  }

  async probe(): Promise<Float32Array> {
    const vector = new Float32Array(this.dimensions);
    await this.encode([PROBE_TEXT], 'query', vector, 0, vector.length);
    return vector;
  }

  async #run(batch: InstanceType<typeof native.TokenBatch>, { rows, width }: Run): Promise<Output> {
    const shape = [paddedRows(rows.length, this.#candidate.rowCounts), width];
    const { inputs, output, padding_token, pooling } = this.#settings;
    const [ids, mask] = [this.#ids.of(shape), this.#mask.of(shape)];
    const used = rows.length * width;
    const [tokens, marks] = [KeptTensor.data<BigInt64Array>(ids), KeptTensor.data<BigInt64Array>(mask)];
    batch.fill(rows, width, padding_token, tokens.subarray(0, used), marks.subarray(0, used));
    tokens.fill(BigInt(padding_token), used);
    // Padding rows have one token each: a mean over none would be NaN.
    for (let at = used; at < marks.length; at++) marks[at] = at % width === 0 ? 1n : 0n;
    const found = await this.#session.run(
      {
        [inputs.ids]: ids,
        ...(inputs.mask ? { [inputs.mask]: mask } : {}),
        ...(inputs.types ? { [inputs.types]: this.#types.of(shape) } : {}),
      },
      { [output]: pooling === 'none' ? [shape[0]!, this.dimensions] : [...shape, this.dimensions] },
    );
    return found[output]!;
  }

  #pool(output: Output, row: number, length: number, width: number, target: Float32Array): void {
    const { pooling, normalise } = this.#settings;
    const size = target.length;
    const rows = output.data.length / (pooling === 'none' ? size : size * width);
    if (!Number.isInteger(rows) || row >= rows)
      throw new Error(`the model's output has the shape ${output.dims.join(' × ')}`);
    const at = (token: number) => (row * width + token) * size;
    switch (pooling) {
      case 'none':
        target.set(output.data.subarray(row * size, (row + 1) * size));
        break;
      case 'cls':
        target.set(output.data.subarray(at(0), at(0) + size));
        break;
      case 'last':
        target.set(output.data.subarray(at(length - 1), at(length - 1) + size));
        break;
      case 'mean':
        target.fill(0);
        for (let token = 0; token < length; token++) {
          const start = at(token);
          for (let index = 0; index < size; index++) target[index]! += output.data[start + index]!;
        }
        // Scaling to unit length cancels the mean's divisor; without it the divisor counts.
        if (!normalise) for (let index = 0; index < size; index++) target[index]! /= length;
        break;
      default:
        pooling satisfies never;
    }
    if (normalise) toUnitLength(target);
  }
}
