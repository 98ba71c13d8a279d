import type { Weights } from './ctranslate2.ts';
import { FLOAT, type GraphParts, INT64, model, node, tensor, valueInfo } from './onnx-messages.ts';

const LARGEST = 127;
const LAYER_NORM_EPSILON = 1e-5;
const OPSET = 17;
/** ONNX's number of f32, as an attribute. */
const TO_FLOAT = 1;

type Attributes = Parameters<typeof node>[3];

/** A graph that grows node by node. Each method returns the name of what it makes. */
export class Graph {
  readonly #nodes: Uint8Array[] = [];
  readonly #constants = new Map<string, Uint8Array>();
  readonly #inputs: Uint8Array[] = [];
  readonly #outputs: Uint8Array[] = [];

  input(name: string, kind: 'float' | 'tokens', dims: readonly (number | string)[]): string {
    this.#inputs.push(valueInfo(name, kind === 'float' ? FLOAT : INT64, dims));
    return name;
  }

  output(name: string, dims: readonly (number | string)[]): void {
    this.#outputs.push(valueInfo(name, FLOAT, dims));
  }

  floats(name: string, { shape, values }: Weights): string {
    this.#constants.set(name, tensor(name, shape, values));
    return name;
  }

  float(name: string, value: number): string {
    return this.floats(name, { shape: [], values: Float32Array.of(value) });
  }

  /** Whole numbers in a row; a single number without a shape is made by `whole`. */
  wholes(name: string, ...values: number[]): string {
    this.#constants.set(name, tensor(name, [values.length], BigInt64Array.from(values, BigInt)));
    return name;
  }

  whole(name: string, value: number): string {
    this.#constants.set(name, tensor(name, [], BigInt64Array.of(BigInt(value))));
    return name;
  }

  node(operator: string, inputs: readonly string[], output: string, attributes?: Attributes): string {
    this.#nodes.push(node(operator, inputs, output, attributes));
    return output;
  }

  /** A node with several outputs. */
  split(inputs: readonly string[], outputs: readonly string[], axis: number): readonly string[] {
    this.#nodes.push(node('Split', inputs, outputs, { axis }));
    return outputs;
  }

  norm(value: string, gain: Weights, shift: Weights, output: string): string {
    const inputs = [value, this.floats(`${output}.gain`, gain), this.floats(`${output}.shift`, shift)];
    return this.node('LayerNormalization', inputs, output, {
      axis: -1,
      epsilon: { float: LAYER_NORM_EPSILON },
    });
  }

  /** Weights in bytes, with a scale for each of their outputs. @param weights outputs × inputs */
  quantised(name: string, weights: Weights): void {
    const { shape, bytes, scales } = quantise(weights);
    this.#constants.set(name, tensor(name, shape, bytes));
    this.floats(`${name}.scales`, { shape: [scales.length], values: scales });
    this.#constants.set(`${name}.zero`, tensor(`${name}.zero`, [], Int8Array.of(0)));
  }

  /** A product with quantised weights: activations become bytes, with one scale for all of them. */
  product(value: string, weights: string, output: string): string {
    const [bytes, scale, zero] = ['bytes', 'scale', 'zero'].map((part) => `${output}.${part}`);
    this.#nodes.push(node('DynamicQuantizeLinear', [value], [bytes!, scale!, zero!]));
    const sums = this.node('MatMulInteger', [bytes!, weights, zero!, `${weights}.zero`], `${output}.sums`);
    const floats = this.node('Cast', [sums], `${output}.floats`, { to: TO_FLOAT });
    const scales = this.node('Mul', [scale!, `${weights}.scales`], `${output}.scales`);
    return this.node('Mul', [floats, scales], output);
  }

  linear(value: string, weights: Weights, bias: Weights, output: string): string {
    this.quantised(`${output}.weights`, weights);
    const product = this.product(value, `${output}.weights`, `${output}.product`);
    return this.node('Add', [product, this.floats(`${output}.bias`, bias)], output);
  }

  gelu(value: string, output: string): string {
    this.float('root_2', Math.SQRT2);
    this.float('one', 1);
    this.float('half', 0.5);
    const error = this.node(
      'Erf',
      [this.node('Div', [value, 'root_2'], `${output}.part`)],
      `${output}.error`,
    );
    const twice = this.node(
      'Mul',
      [value, this.node('Add', [error, 'one'], `${output}.above`)],
      `${output}.twice`,
    );
    return this.node('Mul', [twice, 'half'], output);
  }

  bytes(name: string): Uint8Array {
    const parts: GraphParts = {
      name,
      nodes: this.#nodes,
      constants: [...this.#constants.values()],
      inputs: this.#inputs,
      outputs: this.#outputs,
    };
    return model(parts, OPSET);
  }
}

/** outputs × inputs → inputs × outputs in bytes, each output scaled by its largest weight. */
function quantise({ shape, values }: Weights): {
  shape: number[];
  bytes: Int8Array;
  scales: Float32Array<ArrayBuffer>;
} {
  const [outputs, inputs] = shape as [number, number];
  const bytes = new Int8Array(values.length);
  const scales = new Float32Array(outputs);
  for (let output = 0; output < outputs; output++) {
    const row = values.subarray(output * inputs, (output + 1) * inputs);
    const most = row.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0);
    const scale = most === 0 ? 1 : most / LARGEST;
    scales[output] = scale;
    for (let input = 0; input < inputs; input++)
      bytes[input * outputs + output] = Math.round(row[input]! / scale);
  }
  return { shape: [inputs, outputs], bytes, scales };
}
