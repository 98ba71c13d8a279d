/** Writes the few messages of onnx.proto that the models of tests need. */

/** A number is a varint. */
type Field = readonly [number: number, value: number | bigint | string | Uint8Array];

function varint(value: number | bigint): number[] {
  const bytes: number[] = [];
  let left = BigInt.asUintN(64, BigInt(value));
  while (left > 127n) {
    bytes.push(Number(left & 127n) | 128);
    left >>= 7n;
  }
  return [...bytes, Number(left)];
}

export function message(...fields: readonly Field[]): Uint8Array {
  const parts = fields.map(([number, value]) => {
    if (typeof value === 'number' || typeof value === 'bigint')
      return Uint8Array.from([...varint(number * 8), ...varint(value)]);
    const bytes = typeof value === 'string' ? new TextEncoder().encode(value) : value;
    return Buffer.concat([Uint8Array.from([...varint(number * 8 + 2), ...varint(bytes.length)]), bytes]);
  });
  return Buffer.concat(parts);
}

export const FLOAT = 1;
export const INT64 = 7;

export function tensor(
  name: string,
  dims: readonly number[],
  data: Float32Array | BigInt64Array,
): Uint8Array {
  const raw = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  return message(
    ...dims.map((dim): Field => [1, dim]),
    [2, data instanceof Float32Array ? FLOAT : INT64],
    [8, name],
    [9, raw],
  );
}

export function valueInfo(name: string, type: number, dims: readonly (number | string)[]): Uint8Array {
  const shape = message(
    ...dims.map((dim): Field => [1, message(typeof dim === 'number' ? [1, dim] : [2, dim])]),
  );
  return message([1, name], [2, message([1, message([1, type], [2, shape])])]);
}

export function node(operator: string, inputs: readonly string[], output: string): Uint8Array {
  return message(...inputs.map((input): Field => [1, input]), [2, output], [4, operator]);
}

export interface GraphParts {
  readonly nodes: readonly Uint8Array[];
  readonly constants: readonly Uint8Array[];
  readonly inputs: readonly Uint8Array[];
  readonly outputs: readonly Uint8Array[];
}

export function model({ nodes, constants, inputs, outputs }: GraphParts): Uint8Array {
  const graph = message(
    ...nodes.map((value): Field => [1, value]),
    [2, 'graph'],
    ...constants.map((value): Field => [5, value]),
    ...inputs.map((value): Field => [11, value]),
    ...outputs.map((value): Field => [12, value]),
  );
  return message([1, 8], [7, graph], [8, message([1, ''], [2, 13])]);
}
