/** A Whisper of a few numbers: its weights as CTranslate2 writes them, and its answers computed by the definition. */

export const SMALL = {
  words: 40,
  hidden: 8,
  heads: 2,
  mels: 80,
  layers: 2,
  frames: 200,
  places: 16,
} as const;

interface Matrix {
  readonly shape: readonly number[];
  readonly values: Float64Array;
}

/** Numbers between −1 and 1, rounded so that f16 holds them: the same for a name in each run. */
function numbers(name: string, shape: readonly number[], size = 0.5): Matrix {
  let seed = [...name].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 100_003, 7);
  const count = shape.reduce((product, side) => product * side, 1);
  const values = Float64Array.from({ length: count }, () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return (Math.round((seed / 2_147_483_647) * 2 * 256 - 256) / 256) * size;
  });
  return { shape, values };
}

function parameters(): Map<string, Matrix> {
  const { words, hidden, mels, layers, frames, places } = SMALL;
  const made = new Map<string, Matrix>();
  const add = (name: string, shape: readonly number[], size?: number) =>
    made.set(name, numbers(name, shape, size));
  const linear = (name: string, outputs: number, inputs: number) => {
    add(`${name}/weight`, [outputs, inputs]);
    add(`${name}/bias`, [outputs]);
  };
  const norm = (name: string) => {
    add(`${name}/gamma`, [hidden], 1);
    add(`${name}/beta`, [hidden]);
  };
  add('decoder/embeddings/weight', [words, hidden], 1);
  made.set('encoder/num_heads', { shape: [], values: Float64Array.of(SMALL.heads) });
  for (const [number, inputs] of [
    [1, mels],
    [2, hidden],
  ] as const) {
    add(`encoder/conv${number}/weight`, [hidden, inputs, 3]);
    add(`encoder/conv${number}/bias`, [hidden]);
  }
  add('encoder/position_encodings/encodings', [frames / 2, hidden]);
  add('decoder/position_encodings/encodings', [places, hidden]);
  for (const part of ['encoder', 'decoder']) {
    norm(`${part}/layer_norm`);
    for (let layer = 0; layer < layers; layer++) {
      const at = `${part}/layer_${layer}`;
      norm(`${at}/self_attention/layer_norm`);
      linear(`${at}/self_attention/linear_0`, 3 * hidden, hidden);
      linear(`${at}/self_attention/linear_1`, hidden, hidden);
      norm(`${at}/ffn/layer_norm`);
      linear(`${at}/ffn/linear_0`, 4 * hidden, hidden);
      linear(`${at}/ffn/linear_1`, hidden, 4 * hidden);
      if (part === 'encoder') continue;
      norm(`${at}/attention/layer_norm`);
      linear(`${at}/attention/linear_0`, hidden, hidden);
      linear(`${at}/attention/linear_1`, 2 * hidden, hidden);
      linear(`${at}/attention/linear_2`, hidden, hidden);
    }
  }
  return made;
}

const PARAMETERS = parameters();

/** `model.bin`, version 6, with numbers of 32 bits. */
export function smallWhisperFile(): Uint8Array {
  const parts: Buffer[] = [];
  const number = (value: number, bytes: 1 | 2 | 4) => {
    const part = Buffer.alloc(bytes);
    part.writeUIntLE(value, 0, bytes);
    parts.push(part);
  };
  const text = (value: string) => {
    number(value.length + 1, 2);
    parts.push(Buffer.from(`${value}\0`));
  };
  number(6, 4);
  text('WhisperSpec');
  number(3, 4);
  number(PARAMETERS.size, 4);
  for (const [name, { shape, values }] of PARAMETERS) {
    text(name);
    number(shape.length, 1);
    for (const side of shape) number(side, 4);
    number(0, 1);
    number(values.length * 4, 4);
    parts.push(Buffer.from(Float32Array.from(values).buffer));
  }
  number(0, 4);
  return Buffer.concat(parts);
}

type Rows = number[][];

const take = (name: string): Matrix => PARAMETERS.get(name)!;

function rowsOf(name: string): Rows {
  const { shape, values } = take(name);
  const width = shape[1]!;
  return Array.from({ length: shape[0]! }, (_, row) => [...values.subarray(row * width, (row + 1) * width)]);
}

const linear = (rows: Rows, name: string): Rows => {
  const [weights, bias] = [rowsOf(`${name}/weight`), take(`${name}/bias`).values];
  return rows.map((row) =>
    weights.map((weight, output) => weight.reduce((sum, value, at) => sum + value * row[at]!, bias[output]!)),
  );
};

const norm = (rows: Rows, name: string): Rows => {
  const [gain, shift] = [take(`${name}/gamma`).values, take(`${name}/beta`).values];
  return rows.map((row) => {
    const mean = row.reduce((sum, value) => sum + value, 0) / row.length;
    const variance = row.reduce((sum, value) => sum + (value - mean) ** 2, 0) / row.length;
    return row.map((value, at) => ((value - mean) / Math.sqrt(variance + 1e-5)) * gain[at]! + shift[at]!);
  });
};

/** Abramowitz and Stegun 7.1.26, good to 1.5e-7. */
function erf(x: number): number {
  const t = 1 / (1 + 0.3275911 * Math.abs(x));
  const series = [0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429];
  const sum = series.reduceRight((rest, part) => (rest + part) * t, 0);
  return Math.sign(x) * (1 - sum * Math.exp(-x * x));
}

const gelu = (value: number): number => (value * (1 + erf(value / Math.SQRT2))) / 2;
const plus = (first: Rows, second: Rows): Rows =>
  first.map((row, at) => row.map((value, column) => value + second[at]![column]!));
const part = (rows: Rows, from: number, to: number): Rows => rows.map((row) => row.slice(from, to));

function attention(queries: Rows, keys: Rows, values: Rows, isCausal: boolean): Rows {
  const width = SMALL.hidden / SMALL.heads;
  return queries.map((query, at) => {
    const seen = isCausal ? keys.slice(0, at + 1) : keys;
    const heads = Array.from({ length: SMALL.heads }, (_, head) => {
      const columns = Array.from({ length: width }, (_, column) => head * width + column);
      const scores = seen.map(
        (key) => columns.reduce((sum, column) => sum + query[column]! * key[column]!, 0) / Math.sqrt(width),
      );
      const highest = Math.max(...scores);
      const shares = scores.map((score) => Math.exp(score - highest));
      const sum = shares.reduce((total, share) => total + share, 0);
      return columns.map((column) =>
        shares.reduce((total, share, row) => total + (share / sum) * values[row]![column]!, 0),
      );
    });
    return heads.flat();
  });
}

function ownAttention(rows: Rows, at: string, isCausal: boolean): Rows {
  const { hidden } = SMALL;
  const both = linear(norm(rows, `${at}/self_attention/layer_norm`), `${at}/self_attention/linear_0`);
  const [queries, keys, values] = [0, 1, 2].map((third) => part(both, third * hidden, (third + 1) * hidden));
  return plus(rows, linear(attention(queries!, keys!, values!, isCausal), `${at}/self_attention/linear_1`));
}

function feedForward(rows: Rows, at: string): Rows {
  const wide = linear(norm(rows, `${at}/ffn/layer_norm`), `${at}/ffn/linear_0`);
  return plus(
    rows,
    linear(
      wide.map((row) => row.map(gelu)),
      `${at}/ffn/linear_1`,
    ),
  );
}

/** @param mel row by row @returns states, one row each */
function encoded(mel: Float32Array): Rows {
  const convolution = (columns: Rows, number: 1 | 2): Rows => {
    const { shape, values } = take(`encoder/conv${number}/weight`);
    const [outputs, inputs] = shape as [number, number, number];
    const bias = take(`encoder/conv${number}/bias`).values;
    return Array.from({ length: columns.length / number }, (_, at) =>
      Array.from({ length: outputs }, (_, output) => {
        let sum = bias[output]!;
        for (let input = 0; input < inputs; input++)
          for (let tap = 0; tap < 3; tap++)
            sum +=
              values[(output * inputs + input) * 3 + tap]! * (columns[at * number + tap - 1]?.[input] ?? 0);
        return gelu(sum);
      }),
    );
  };
  const frames = Array.from({ length: SMALL.frames }, (_, frame) =>
    Array.from({ length: SMALL.mels }, (_, bin) => mel[bin * SMALL.frames + frame]!),
  );
  let rows = convolution(convolution(frames, 1), 2);
  rows = plus(rows, rowsOf('encoder/position_encodings/encodings'));
  for (let layer = 0; layer < SMALL.layers; layer++)
    rows = feedForward(ownAttention(rows, `encoder/layer_${layer}`, false), `encoder/layer_${layer}`);
  return norm(rows, 'encoder/layer_norm');
}

/** Logits after the last of the tokens, by the definition. @param mel row by row, of `SMALL.frames` */
export function smallWhisperLogits(mel: Float32Array, tokens: readonly number[]): number[] {
  const { hidden } = SMALL;
  const states = encoded(mel);
  const [table, places] = [
    rowsOf('decoder/embeddings/weight'),
    rowsOf('decoder/position_encodings/encodings'),
  ];
  let rows = plus(
    tokens.map((token) => table[token]!),
    places.slice(0, tokens.length),
  );
  for (let layer = 0; layer < SMALL.layers; layer++) {
    const at = `decoder/layer_${layer}`;
    rows = ownAttention(rows, at, true);
    const queries = linear(norm(rows, `${at}/attention/layer_norm`), `${at}/attention/linear_0`);
    const both = linear(states, `${at}/attention/linear_1`);
    const heard = attention(queries, part(both, 0, hidden), part(both, hidden, 2 * hidden), false);
    rows = feedForward(plus(rows, linear(heard, `${at}/attention/linear_2`)), at);
  }
  const [last] = norm(rows.slice(-1), 'decoder/layer_norm');
  return table.map((word) => word.reduce((sum, value, at) => sum + value * last![at]!, 0));
}
