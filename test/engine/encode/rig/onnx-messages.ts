/** Writes the few messages of onnx.proto that the models of tests need. */

/** A number is a varint; an object is a float. */
type Field = readonly [
  number: number,
  value: number | bigint | string | Uint8Array | { readonly float: number },
];

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
    if (typeof value === 'object' && 'float' in value)
      return Buffer.concat([
        Uint8Array.from(varint(number * 8 + 5)),
        new Uint8Array(Float32Array.of(value.float).buffer),
      ]);
    const bytes = typeof value === 'string' ? new TextEncoder().encode(value) : value;
    return Buffer.concat([Uint8Array.from([...varint(number * 8 + 2), ...varint(bytes.length)]), bytes]);
  });
  return Buffer.concat(parts);
}

export const FLOAT = 1;
export const INT64 = 7;

type Elements = Float32Array | BigInt64Array | Int8Array | Uint8Array;

function typeOf(data: Elements): number {
  if (data instanceof Float32Array) return FLOAT;
  if (data instanceof BigInt64Array) return INT64;
  return data instanceof Int8Array ? 3 : 2;
}

export function tensor(name: string, dims: readonly number[], data: Elements): Uint8Array {
  const raw = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  return message(...dims.map((dim): Field => [1, dim]), [2, typeOf(data)], [8, name], [9, raw]);
}

export function valueInfo(name: string, type: number, dims: readonly (number | string)[]): Uint8Array {
  const shape = message(
    ...dims.map((dim): Field => [1, message(typeof dim === 'number' ? [1, dim] : [2, dim])]),
  );
  return message([1, name], [2, message([1, message([1, type], [2, shape])])]);
}

/** A whole number, some of them, or a float. */
type Attribute = number | readonly number[] | { readonly float: number };

function attribute([name, value]: readonly [string, Attribute]): Uint8Array {
  if (typeof value === 'number') return message([1, name], [3, value], [20, 2]);
  if ('float' in value) return message([1, name], [2, value], [20, 1]);
  return message([1, name], ...value.map((one): Field => [8, one]), [20, 7]);
}

export function node(
  operator: string,
  inputs: readonly string[],
  outputs: string | readonly string[],
  attributes: Readonly<Record<string, Attribute>> = {},
): Uint8Array {
  return message(
    ...inputs.map((input): Field => [1, input]),
    ...[outputs].flat().map((output): Field => [2, output]),
    [4, operator],
    ...Object.entries(attributes).map((entry): Field => [5, attribute(entry)]),
  );
}

export interface GraphParts {
  readonly name?: string;
  readonly nodes: readonly Uint8Array[];
  readonly constants: readonly Uint8Array[];
  readonly inputs: readonly Uint8Array[];
  readonly outputs: readonly Uint8Array[];
}

export function model(
  { name = 'graph', nodes, constants, inputs, outputs }: GraphParts,
  opset = 13,
): Uint8Array {
  const graph = message(
    ...nodes.map((value): Field => [1, value]),
    [2, name],
    ...constants.map((value): Field => [5, value]),
    ...inputs.map((value): Field => [11, value]),
    ...outputs.map((value): Field => [12, value]),
  );
  return message([1, 8], [7, graph], [8, message([1, ''], [2, opset])]);
}
