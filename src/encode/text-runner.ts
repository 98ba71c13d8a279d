import { native } from '../native/index.ts';
import { groupByLength, type Run } from './grouping.ts';
import { integers, type Output, type Session, toUnitLength } from './session.ts';
import type { Candidate, TextTower } from './tower.ts';

export interface RunTotals {
  runs: number;
  tokens: number;
  padding: number;
}

export type TextUse = 'query' | 'passage';

/** A text model in one worker: tokenises, runs, pools. Its input tensors' memory is kept between runs. */
export class TextRunner {
  readonly #tower: TextTower;
  readonly #candidate: Candidate;
  readonly session: Session;
  readonly #tokenizer: InstanceType<typeof native.TextTokenizer>;
  #ids = new BigInt64Array(0);
  #mask = new BigInt64Array(0);
  #types = new BigInt64Array(0);

  constructor(tower: TextTower, candidate: Candidate, session: Session) {
    const { limit, special_tokens, dropped_tokens } = tower.settings;
    this.#tower = tower;
    this.#candidate = candidate;
    this.session = session;
    this.#tokenizer = new native.TextTokenizer(tower.tokenizerPath, {
      limit,
      specialTokens: special_tokens,
      dropped: dropped_tokens,
    });
  }

  get dimensions(): number {
    return this.#tower.settings.dimensions;
  }

  /** Writes one vector of unit length for each text: row i starts at `offset + i · stride` of `target`. */
  async encode(
    texts: readonly string[],
    use: TextUse,
    target: Float32Array,
    offset: number,
    stride: number,
  ): Promise<RunTotals> {
    const { query_prefix, passage_prefix } = this.#tower.settings;
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

  async #run(batch: InstanceType<typeof native.TokenBatch>, { rows, width }: Run): Promise<Output> {
    const size = rows.length * width;
    if (this.#ids.length < size) {
      this.#ids = new BigInt64Array(size);
      this.#mask = new BigInt64Array(size);
      this.#types = new BigInt64Array(size);
    }
    const ids = this.#ids.subarray(0, size);
    const mask = this.#mask.subarray(0, size);
    const { inputs, output, padding_token } = this.#tower.settings;
    batch.fill(rows, width, padding_token, ids, mask);
    const found = await this.session.run(
      {
        [inputs.ids]: integers(ids, rows.length, width),
        ...(inputs.mask ? { [inputs.mask]: integers(mask, rows.length, width) } : {}),
        ...(inputs.types
          ? { [inputs.types]: integers(this.#types.subarray(0, size), rows.length, width) }
          : {}),
      },
      [output],
    );
    return found[output]!;
  }

  #pool(output: Output, row: number, length: number, width: number, target: Float32Array): void {
    const { pooling, normalise } = this.#tower.settings;
    const size = target.length;
    const rows = output.data.length / (pooling === 'none' ? size : size * width);
    if (!Number.isInteger(rows) || row >= rows)
      throw new Error(`the model's output has the shape ${output.dims.join(' × ')}`);
    const at = (token: number) => (row * width + token) * size;
    if (pooling === 'none') target.set(output.data.subarray(row * size, (row + 1) * size));
    else if (pooling === 'cls') target.set(output.data.subarray(at(0), at(0) + size));
    else if (pooling === 'last') target.set(output.data.subarray(at(length - 1), at(length - 1) + size));
    else {
      target.fill(0);
      for (let token = 0; token < length; token++) {
        const start = at(token);
        for (let index = 0; index < size; index++) target[index]! += output.data[start + index]!;
      }
      // The mean's divisor falls out when the row is scaled; without it, it counts.
      if (!normalise) for (let index = 0; index < size; index++) target[index]! /= length;
    }
    if (normalise) toUnitLength(target);
  }
}
