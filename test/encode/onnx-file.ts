/** Writes small ONNX models for tests: the few messages of onnx.proto3 that they need. */

type Field = readonly [number: number, value: number | string | Uint8Array];

function varint(value: number): number[] {
  const bytes: number[] = [];
  let left = value;
  while (left > 127) {
    bytes.push((left & 127) | 128);
    left = Math.floor(left / 128);
  }
  return [...bytes, left];
}

function message(...fields: readonly Field[]): Uint8Array {
  const parts = fields.map(([number, value]) => {
    if (typeof value === 'number') return Uint8Array.from([...varint(number * 8), ...varint(value)]);
    const bytes = typeof value === 'string' ? new TextEncoder().encode(value) : value;
    return Buffer.concat([Uint8Array.from([...varint(number * 8 + 2), ...varint(bytes.length)]), bytes]);
  });
  return Buffer.concat(parts);
}

const FLOAT = 1;
const INT64 = 7;

function tensor(name: string, dims: readonly number[], data: Float32Array | BigInt64Array): Uint8Array {
  const type = data instanceof Float32Array ? FLOAT : INT64;
  const raw = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  return message(...dims.map((dim): Field => [1, dim]), [2, type], [8, name], [9, raw]);
}

function valueInfo(name: string, type: number, dims: readonly (number | string)[]): Uint8Array {
  const shape = message(
    ...dims.map((dim): Field => [1, message(typeof dim === 'number' ? [1, dim] : [2, dim])]),
  );
  return message([1, name], [2, message([1, message([1, type], [2, shape])])]);
}

function node(operator: string, inputs: readonly string[], output: string): Uint8Array {
  return message(...inputs.map((input): Field => [1, input]), [2, output], [4, operator]);
}

interface Graph {
  readonly nodes: readonly Uint8Array[];
  readonly constants: readonly Uint8Array[];
  readonly inputs: readonly Uint8Array[];
  readonly outputs: readonly Uint8Array[];
}

function model({ nodes, constants, inputs, outputs }: Graph): Uint8Array {
  const graph = message(
    ...nodes.map((value): Field => [1, value]),
    [2, 'test'],
    ...constants.map((value): Field => [5, value]),
    ...inputs.map((value): Field => [11, value]),
    ...outputs.map((value): Field => [12, value]),
  );
  return message([1, 8], [7, graph], [8, message([1, ''], [2, 13])]);
}

/** Numbers between −1 and 1 that are the same in each run. */
function weights(count: number, seed: number): Float32Array {
  return Float32Array.from({ length: count }, (_, index) => Math.sin(index * 12.9898 + seed * 78.233));
}

/** Text of CLIP's shape with random weights: token ids → one vector for each token. */
export function textModel(dimensions: number): Uint8Array {
  const rows = 509;
  return model({
    nodes: [node('Mod', ['input_ids', 'rows'], 'row'), node('Gather', ['table', 'row'], 'last_hidden_state')],
    constants: [
      tensor('rows', [], BigInt64Array.of(BigInt(rows))),
      tensor('table', [rows, dimensions], weights(rows * dimensions, 1)),
    ],
    inputs: [valueInfo('input_ids', INT64, ['batch', 'tokens'])],
    outputs: [valueInfo('last_hidden_state', FLOAT, ['batch', 'tokens', dimensions])],
  });
}

/** Pictures of CLIP's shape with random weights: the mean colour, projected. */
export function pictureModel(dimensions: number): Uint8Array {
  return model({
    nodes: [
      node('GlobalAveragePool', ['pixel_values'], 'mean'),
      node('Flatten', ['mean'], 'flat'),
      node('MatMul', ['flat', 'projection'], 'image_embeds'),
    ],
    constants: [tensor('projection', [3, dimensions], weights(3 * dimensions, 2))],
    inputs: [valueInfo('pixel_values', FLOAT, ['batch', 3, 224, 224])],
    outputs: [valueInfo('image_embeds', FLOAT, ['batch', dimensions])],
  });
}
