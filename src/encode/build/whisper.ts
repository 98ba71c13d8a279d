import { readCtranslate2, type Weights } from './ctranslate2.ts';
import { Graph } from './graph.ts';

/**
 * Makes the encoder and the decoder of a Whisper model (Radford et al. 2022, arXiv:2212.04356) from CTranslate2's weights, with
 * products in bytes. The same weights give the same bytes.
 *
 * - encoder: `mel` [1, mels, frames] → `cross_k_LAYER` [1, heads, width, frames / 2] and `cross_v_LAYER` [1, heads, frames / 2, width]
 * - decoder: `tokens` [1, n], for each layer `past_k`, `past_v` [1, heads, past, width] and the encoder's → `logits` [1, 1, words] after
 *   the last token, and `self_k`, `self_v` with the new tokens, which are the next run's past. The past may be empty.
 */
export function buildWhisper(weights: Uint8Array): { encoder: Uint8Array; decoder: Uint8Array } {
  const sizes = new Sizes(readCtranslate2(weights));
  return { encoder: encoderOf(sizes), decoder: decoderOf(sizes) };
}

class Sizes {
  readonly #weights: ReadonlyMap<string, Weights>;
  readonly words: number;
  readonly hidden: number;
  readonly heads: number;
  readonly width: number;
  readonly mels: number;
  readonly encoderLayers: number;
  readonly decoderLayers: number;

  constructor(weights: ReadonlyMap<string, Weights>) {
    this.#weights = weights;
    [this.words, this.hidden] = this.take('decoder/embeddings/weight').shape as [number, number];
    this.heads = this.take('encoder/num_heads').values[0]!;
    this.width = this.hidden / this.heads;
    this.mels = this.take('encoder/conv1/weight').shape[1]!;
    const layers = (part: string) =>
      [...weights.keys()].filter(
        (name) => name.startsWith(`${part}/layer_`) && name.endsWith('/ffn/linear_0/weight'),
      ).length;
    this.encoderLayers = layers('encoder');
    this.decoderLayers = layers('decoder');
  }

  take(name: string): Weights {
    const found = this.#weights.get(name);
    if (!found) throw new Error(`the weights have no ${name}: they are no Whisper model`);
    return found;
  }

  /** Weights and bias of a linear layer. */
  linear(name: string): [Weights, Weights] {
    return [this.take(`${name}/weight`), this.take(`${name}/bias`)];
  }

  /** Queries are scaled here and not in the graph: the factor is a power of two, or nearly one. */
  scaledQueries(name: string): [Weights, Weights] {
    const scale = 1 / Math.sqrt(this.width);
    const scaled = ({ shape, values }: Weights): Weights => ({
      shape,
      values: values.map((value, index) =>
        index < (values.length / shape[0]!) * this.hidden ? value * scale : value,
      ),
    });
    const [weights, bias] = this.linear(name);
    return [scaled(weights), scaled(bias)];
  }

  norm(name: string): [Weights, Weights] {
    return [this.take(`${name}/gamma`), this.take(`${name}/beta`)];
  }
}

/** The layers that both parts have. */
class Layers {
  readonly graph = new Graph();
  readonly sizes: Sizes;

  constructor(sizes: Sizes) {
    this.sizes = sizes;
    const { heads, width, hidden } = sizes;
    this.graph.wholes('to_heads', 0, 0, heads, width);
    this.graph.wholes('from_heads', 0, 0, hidden);
    this.graph.wholes('zero', 0);
    this.graph.wholes('one_whole', 1);
  }

  /** [1, n, hidden] → [1, heads, n, width], or [1, heads, width, n] as keys are multiplied. */
  heads(value: string, output: string, order: 'rows' | 'columns' = 'rows'): string {
    const parted = this.graph.node('Reshape', [value, 'to_heads'], `${output}.parted`);
    return this.graph.node('Transpose', [parted], output, {
      perm: order === 'rows' ? [0, 2, 1, 3] : [0, 2, 3, 1],
    });
  }

  /** @param columns keys as [1, heads, width, n] */
  attention(query: string, columns: string, values: string, output: string, mask?: string): string {
    const { graph } = this;
    let scores = graph.node('MatMul', [query, columns], `${output}.scores`);
    if (mask) scores = graph.node('Add', [scores, mask], `${output}.masked`);
    const shares = graph.node('Softmax', [scores], `${output}.shares`, { axis: -1 });
    const mixed = graph.node('MatMul', [shares, values], `${output}.mixed`);
    const turned = graph.node('Transpose', [mixed], `${output}.turned`, { perm: [0, 2, 1, 3] });
    return graph.node('Reshape', [turned, 'from_heads'], output);
  }

  /** Queries, keys and values of a layer's own tokens, as [1, n, hidden] each. */
  threefold(value: string, source: string, name: string): readonly string[] {
    const { graph, sizes } = this;
    const both = graph.linear(value, ...sizes.scaledQueries(`${source}/linear_0`), `${name}.threefold`);
    graph.wholes('thirds', sizes.hidden, sizes.hidden, sizes.hidden);
    return graph.split(
      [both, 'thirds'],
      ['query', 'key', 'value'].map((part) => `${name}.${part}`),
      2,
    );
  }

  residual(value: string, addition: string, source: string, name: string): string {
    const added = this.graph.linear(addition, ...this.sizes.linear(source), `${name}.out`);
    return this.graph.node('Add', [value, added], `${name}.sum`);
  }

  norm(value: string, source: string, name: string): string {
    return this.graph.norm(value, ...this.sizes.norm(source), name);
  }

  feedForward(value: string, source: string, name: string): string {
    const before = this.norm(value, `${source}/ffn/layer_norm`, `${name}.norm`);
    const wide = this.graph.linear(before, ...this.sizes.linear(`${source}/ffn/linear_0`), `${name}.wide`);
    return this.residual(value, this.graph.gelu(wide, `${name}.gelu`), `${source}/ffn/linear_1`, name);
  }
}

function encoderOf(sizes: Sizes): Uint8Array {
  const layers = new Layers(sizes);
  const { graph } = layers;
  const convolution = (value: string, number: 1 | 2): string => {
    const [weights, bias] = sizes.linear(`encoder/conv${number}`);
    const inputs = [
      value,
      graph.floats(`conv${number}.weights`, weights),
      graph.floats(`conv${number}.bias`, bias),
    ];
    const found = graph.node('Conv', inputs, `conv${number}`, { pads: [1, 1], strides: [number] });
    return graph.gelu(found, `conv${number}.gelu`);
  };
  const frames = convolution(convolution(graph.input('mel', 'float', [1, sizes.mels, 'frames']), 1), 2);
  const turned = graph.node('Transpose', [frames], 'states', { perm: [0, 2, 1] });
  const places = graph.floats('places', sizes.take('encoder/position_encodings/encodings'));
  graph.node('Shape', [turned], 'length', { start: 1, end: 2 });
  const place = graph.node('Slice', [places, 'zero', 'length', 'zero'], 'place');
  let value = graph.node('Add', [turned, place], 'placed');
  for (let number = 0; number < sizes.encoderLayers; number++) {
    const [source, name] = [`encoder/layer_${number}`, `layer_${number}`];
    const before = layers.norm(value, `${source}/self_attention/layer_norm`, `${name}.norm`);
    const [query, key, values] = layers.threefold(before, `${source}/self_attention`, name) as [
      string,
      string,
      string,
    ];
    const mixed = layers.attention(
      layers.heads(query, `${name}.queries`),
      layers.heads(key, `${name}.columns`, 'columns'),
      layers.heads(values, `${name}.values`),
      `${name}.attention`,
    );
    value = layers.residual(value, mixed, `${source}/self_attention/linear_1`, name);
    value = layers.feedForward(value, source, `${name}.forward`);
  }
  value = layers.norm(value, 'encoder/layer_norm', 'encoded');
  graph.wholes('halves', sizes.hidden, sizes.hidden);
  for (let number = 0; number < sizes.decoderLayers; number++) {
    const both = graph.linear(
      value,
      ...sizes.linear(`decoder/layer_${number}/attention/linear_1`),
      `cross_${number}`,
    );
    const [key, values] = graph.split([both, 'halves'], [`cross_${number}.key`, `cross_${number}.value`], 2);
    layers.heads(key!, `cross_k_${number}`, 'columns');
    layers.heads(values!, `cross_v_${number}`);
    graph.output(`cross_k_${number}`, [1, sizes.heads, sizes.width, 'states']);
    graph.output(`cross_v_${number}`, [1, sizes.heads, 'states', sizes.width]);
  }
  return graph.bytes('whisper encoder');
}

function decoderOf(sizes: Sizes): Uint8Array {
  const layers = new Layers(sizes);
  const { graph } = layers;
  const tokens = graph.input('tokens', 'tokens', [1, 'n']);
  // One table of words, for what goes in and for what comes out.
  graph.quantised('words', sizes.take('decoder/embeddings/weight'));
  const columns = graph.node('Gather', ['words', tokens], 'word_columns', { axis: 1 });
  const scaled = graph.node(
    'Mul',
    [
      graph.node('Cast', [columns], 'word_floats', { to: 1 }),
      graph.node('Gather', ['words.scales', tokens], 'word_scales', { axis: 0 }),
    ],
    'word_values',
  );
  const embedded = graph.node('Transpose', [scaled], 'embedded', { perm: [1, 2, 0] });
  const { first, last, mask } = positions(graph);
  const places = graph.floats('places', sizes.take('decoder/position_encodings/encodings'));
  const place = graph.node('Slice', [places, first, last, 'zero'], 'place');
  let value = graph.node('Add', [embedded, place], 'placed');
  for (let number = 0; number < sizes.decoderLayers; number++)
    value = decoderLayer(layers, number, value, mask);
  graph.wholes('end', Number.MAX_SAFE_INTEGER);
  graph.wholes('minus_one', -1);
  const final = graph.node('Slice', [value, 'minus_one', 'end', 'one_whole'], 'last');
  graph.product(layers.norm(final, 'decoder/layer_norm', 'decoded'), 'words', 'logits');
  graph.output('logits', [1, 1, sizes.words]);
  return graph.bytes('whisper decoder');
}

/** The places of the new tokens, and a mask that hides later ones from each. */
function positions(graph: Graph): { first: string; last: string; mask: string } {
  graph.node('Shape', ['tokens'], 'new', { start: 1, end: 2 });
  const first = graph.node('Shape', ['past_k_0'], 'past_length', { start: 2, end: 3 });
  const last = graph.node('Add', [first, 'new'], 'total');
  graph.wholes('scalar');
  graph.whole('zero_scalar', 0);
  graph.whole('one_scalar', 1);
  const from = graph.node('Reshape', [first, 'scalar'], 'from');
  const to = graph.node('Reshape', [last, 'scalar'], 'to');
  const rows = graph.node('Range', [from, to, 'one_scalar'], 'rows');
  const columns = graph.node('Range', ['zero_scalar', to, 'one_scalar'], 'columns');
  const standing = graph.node('Unsqueeze', [rows, 'one_whole'], 'standing');
  const seen = graph.node('LessOrEqual', [columns, standing], 'seen');
  graph.float('shown', 0);
  graph.float('hidden', -1e9);
  return { first, last, mask: graph.node('Where', [seen, 'shown', 'hidden'], 'mask') };
}

function decoderLayer(layers: Layers, number: number, value: string, mask: string): string {
  const { graph, sizes } = layers;
  const [source, name] = [`decoder/layer_${number}`, `layer_${number}`];
  const kept = (part: 'k' | 'v', added: string): string => {
    const dims = (length: string) => [1, sizes.heads, length, sizes.width];
    const past = graph.input(`past_${part}_${number}`, 'float', dims('past'));
    const both = graph.node(
      'Concat',
      [past, layers.heads(added, `${name}.new_${part}`)],
      `self_${part}_${number}`,
      {
        axis: 2,
      },
    );
    graph.output(both, dims('total'));
    return both;
  };
  const before = layers.norm(value, `${source}/self_attention/layer_norm`, `${name}.norm`);
  const [query, key, values] = layers.threefold(before, `${source}/self_attention`, name) as [
    string,
    string,
    string,
  ];
  const columns = graph.node('Transpose', [kept('k', key)], `${name}.columns`, { perm: [0, 1, 3, 2] });
  const mixed = layers.attention(
    layers.heads(query, `${name}.queries`),
    columns,
    kept('v', values),
    `${name}.attention`,
    mask,
  );
  const own = layers.residual(value, mixed, `${source}/self_attention/linear_1`, name);
  const asking = layers.norm(own, `${source}/attention/layer_norm`, `${name}.cross_norm`);
  const asked = graph.linear(
    asking,
    ...sizes.scaledQueries(`${source}/attention/linear_0`),
    `${name}.cross_query`,
  );
  const heard = layers.attention(
    layers.heads(asked, `${name}.cross_queries`),
    graph.input(`cross_k_${number}`, 'float', [1, sizes.heads, sizes.width, 'states']),
    graph.input(`cross_v_${number}`, 'float', [1, sizes.heads, 'states', sizes.width]),
    `${name}.cross`,
  );
  const both = layers.residual(own, heard, `${source}/attention/linear_2`, `${name}.cross_out`);
  return layers.feedForward(both, source, `${name}.forward`);
}
