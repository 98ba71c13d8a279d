import { FLOAT, INT64, model, node, tensor, valueInfo } from './onnx-messages.ts';

/** Sizes of a BERT with random weights. */
export interface BertSizes {
  readonly words: number;
  readonly positions: number;
  readonly hidden: number;
  readonly heads: number;
  readonly inner: number;
  readonly layers: number;
  /** Layer norms as one operator (opset 17), or in the nine that older exports have. */
  readonly norms: 'fused' | 'in parts';
}

/** Numbers that are the same in each run, about evenly in −1..1 (mulberry32). */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 31 - 1;
  };
}

/**
 * Seven bits: without VNNI, ONNX Runtime adds two products in 16 bits, and larger weights would saturate there
 * (its `reduce_range`).
 */
const WEIGHT_MAX = 63;

/**
 * A model as exports of Hugging Face's BertModel look after ONNX Runtime's dynamic quantisation per channel: shapes computed in
 * the graph, types and positions gathered, the words' table in bytes, one vector for each token. Its weights are random.
 */
export function bertModel(sizes: BertSizes): Uint8Array {
  return new BertFile(sizes).model();
}

class BertFile {
  readonly #sizes: BertSizes;
  readonly #nodes: Uint8Array[] = [];
  readonly #constants: Uint8Array[] = [];
  readonly #random = generator(7);
  #made = 0;

  constructor(sizes: BertSizes) {
    this.#sizes = sizes;
  }

  model(): Uint8Array {
    const { layers, hidden } = this.#sizes;
    this.#shared();
    let value = this.#embedding();
    for (let layer = 0; layer < layers; layer++) value = this.#layer(value);
    this.#nodes.push(node('Identity', [value], 'last_hidden_state'));
    const ids = ['input_ids', 'attention_mask', 'token_type_ids'];
    return model(
      {
        nodes: this.#nodes,
        constants: this.#constants,
        inputs: ids.map((name) => valueInfo(name, INT64, ['batch', 'tokens'])),
        outputs: [valueInfo('last_hidden_state', FLOAT, ['batch', 'tokens', hidden])],
      },
      17,
    );
  }

  #name(): string {
    this.#made += 1;
    return `v${this.#made}`;
  }

  #node(operator: string, inputs: readonly string[], attributes: Parameters<typeof node>[3] = {}): string {
    const output = this.#name();
    this.#nodes.push(node(operator, inputs, output, attributes));
    return output;
  }

  #constant(dims: readonly number[], data: Parameters<typeof tensor>[2]): string {
    const name = this.#name();
    this.#constants.push(tensor(name, dims, data));
    return name;
  }

  #whole(...values: readonly number[]): string {
    return this.#constant([values.length], BigInt64Array.from(values, BigInt));
  }

  #scalar(value: number): string {
    return this.#constant([], Float32Array.of(value));
  }

  /** Random numbers around `middle`; a loop, because there are some tens of millions. */
  #filled<T extends Float32Array | Int8Array | Uint8Array>(array: T, scale: number, middle = 0): T {
    for (let at = 0; at < array.length; at++) array[at] = this.#random() * scale + middle;
    return array;
  }

  #floats(count: number, scale: number, middle = 0): Float32Array {
    return this.#filled(new Float32Array(count), scale, middle);
  }

  /** The mask as what is added to scores, and sizes of the input. */
  #shared(): void {
    const four = this.#node('Unsqueeze', [
      this.#node('Unsqueeze', ['attention_mask', this.#whole(1)]),
      this.#whole(2),
    ]);
    const absent = this.#node('Sub', [this.#scalar(1), this.#node('Cast', [four], { to: FLOAT })]);
    this.#nodes.push(node('Mul', [absent, this.#scalar(-10_000)], 'mask'));
  }

  #size(of: string, axis: number): string {
    const zero = this.#constant([], BigInt64Array.of(BigInt(axis)));
    return this.#node('Unsqueeze', [
      this.#node('Gather', [this.#node('Shape', [of]), zero], { axis: 0 }),
      this.#whole(0),
    ]);
  }

  #embedding(): string {
    const { words, positions, hidden } = this.#sizes;
    const bytes = this.#filled(new Uint8Array(words * hidden), 127, 128);
    const taken = this.#node('Gather', [this.#constant([words, hidden], bytes), 'input_ids']);
    const word = this.#node('DequantizeLinear', [
      taken,
      this.#scalar(0.01),
      this.#constant([], Uint8Array.of(128)),
    ]);
    const numbers = this.#constant(
      [1, positions],
      BigInt64Array.from({ length: positions }, (_, at) => BigInt(at)),
    );
    const cut = this.#node('Slice', [
      numbers,
      this.#whole(0),
      this.#size('input_ids', 1),
      this.#whole(1),
      this.#whole(1),
    ]);
    const table = this.#constant([positions, hidden], this.#floats(positions * hidden, 0.3));
    const types = this.#constant([2, hidden], this.#floats(2 * hidden, 0.3));
    const typed = this.#node('Add', [word, this.#node('Gather', [types, 'token_type_ids'])]);
    return this.#norm(this.#node('Add', [typed, this.#node('Gather', [table, cut])]));
  }

  #norm(value: string): string {
    const { hidden, norms } = this.#sizes;
    const gain = this.#constant([hidden], this.#floats(hidden, 0.3, 1));
    const shift = this.#constant([hidden], this.#floats(hidden, 0.2));
    const epsilon = 1e-12;
    if (norms === 'fused')
      return this.#node('LayerNormalization', [value, gain, shift], {
        axis: -1,
        epsilon: { float: epsilon },
      });
    const centred = this.#node('Sub', [value, this.#node('ReduceMean', [value], { axes: [-1] })]);
    const square = this.#node('Pow', [centred, this.#scalar(2)]);
    const variance = this.#node('ReduceMean', [square], { axes: [-1] });
    const root = this.#node('Sqrt', [this.#node('Add', [variance, this.#scalar(epsilon)])]);
    return this.#node('Add', [this.#node('Mul', [this.#node('Div', [centred, root]), gain]), shift]);
  }

  #linear(value: string, inputs: number, outputs: number): string {
    const weights = this.#filled(new Int8Array(inputs * outputs), WEIGHT_MAX);
    const [bytes, scale, zero] = [this.#name(), this.#name(), this.#name()];
    this.#nodes.push(node('DynamicQuantizeLinear', [value], [bytes, scale, zero]));
    const zeros = this.#constant([outputs], new Int8Array(outputs));
    const sums = this.#node('MatMulInteger', [
      bytes,
      this.#constant([inputs, outputs], weights),
      zero,
      zeros,
    ]);
    const step = 2 / Math.sqrt(inputs) / WEIGHT_MAX;
    const scales = this.#node('Mul', [
      scale,
      this.#constant([outputs], this.#floats(outputs, step / 2, step)),
    ]);
    const product = this.#node('Mul', [this.#node('Cast', [sums], { to: FLOAT }), scales]);
    return this.#node('Add', [this.#constant([outputs], this.#floats(outputs, 0.2)), product]);
  }

  #attention(value: string): string {
    const { hidden, heads } = this.#sizes;
    const shape = (...last: readonly number[]) =>
      this.#node('Concat', [this.#size(value, 0), this.#size(value, 1), this.#whole(...last)], { axis: 0 });
    const byHeads = (perm: readonly number[]) => {
      const reshaped = this.#node('Reshape', [
        this.#linear(value, hidden, hidden),
        shape(heads, hidden / heads),
      ]);
      return this.#node('Transpose', [reshaped], { perm });
    };
    const [queries, keys, values] = [byHeads([0, 2, 1, 3]), byHeads([0, 2, 3, 1]), byHeads([0, 2, 1, 3])];
    const scores = this.#node('Div', [
      this.#node('MatMul', [queries, keys]),
      this.#scalar(Math.sqrt(hidden / heads)),
    ]);
    const shares = this.#node('Softmax', [this.#node('Add', [scores, 'mask'])], { axis: -1 });
    const mixed = this.#node('Transpose', [this.#node('MatMul', [shares, values])], { perm: [0, 2, 1, 3] });
    return this.#node('Reshape', [mixed, shape(hidden)]);
  }

  #layer(value: string): string {
    const { hidden, inner } = this.#sizes;
    const attended = this.#linear(this.#attention(value), hidden, hidden);
    const middle = this.#norm(this.#node('Add', [attended, value]));
    const up = this.#linear(middle, hidden, inner);
    const erf = this.#node('Erf', [this.#node('Div', [up, this.#scalar(Math.SQRT2)])]);
    const product = this.#node('Mul', [up, this.#node('Add', [erf, this.#scalar(1)])]);
    const down = this.#linear(this.#node('Mul', [product, this.#scalar(0.5)]), inner, hidden);
    return this.#norm(this.#node('Add', [down, middle]));
  }
}
