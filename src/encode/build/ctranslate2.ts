/** A tensor of a file of weights: numbers row by row. */
export interface Weights {
  readonly shape: readonly number[];
  readonly values: Float32Array<ArrayBuffer>;
}

const VERSION = 6;
/** Bytes of an element by its type: f32, i8, i16, i32, f16. */
const ELEMENT_BYTES = [4, 1, 2, 4, 2] as const;

/**
 * Reads the `model.bin` of CTranslate2 (its `python/ctranslate2/specs/model_spec.py` writes it): numbers are little-endian,
 * names have their length before them, and aliases follow the tensors.
 * @throws Error for another version, or a file that ends early
 */
export function readCtranslate2(data: Uint8Array): Map<string, Weights> {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  let at = 0;
  const number = (bytes: 1 | 2 | 4): number => {
    const place = at;
    at += bytes;
    if (bytes === 1) return view.getUint8(place);
    return bytes === 2 ? view.getUint16(place, true) : view.getUint32(place, true);
  };
  const text = (): string => {
    const length = number(2);
    at += length;
    return new TextDecoder().decode(data.subarray(at - length, at)).replace(/\0+$/, '');
  };
  const version = number(4);
  if (version !== VERSION) throw new Error(`the weights have version ${version}, not ${VERSION}`);
  text(); // The name of the specification, and its revision.
  number(4);
  const tensors = new Map<string, Weights>();
  for (let left = number(4); left > 0; left--) {
    const name = text();
    const shape = Array.from({ length: number(1) }, () => number(4));
    const type = number(1);
    const bytes = number(4);
    tensors.set(name, { shape, values: floats(data.subarray(at, at + bytes), type) });
    at += bytes;
  }
  if (at > data.length) throw new Error('the weights end early');
  for (let left = at < data.length ? number(4) : 0; left > 0; left--) {
    const alias = text();
    const target = tensors.get(text());
    if (target) tensors.set(alias, target);
  }
  return tensors;
}

function floats(bytes: Uint8Array, type: number): Float32Array<ArrayBuffer> {
  const size = ELEMENT_BYTES[type];
  if (size === undefined) throw new Error(`the weights have numbers of an unknown type ${type}`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const values = new Float32Array(bytes.length / size);
  for (let index = 0; index < values.length; index++) {
    const at = index * size;
    if (type === 0) values[index] = view.getFloat32(at, true);
    else if (type === 1) values[index] = view.getInt8(at);
    else if (type === 2) values[index] = view.getInt16(at, true);
    else if (type === 3) values[index] = view.getInt32(at, true);
    else values[index] = half(view.getUint16(at, true));
  }
  return values;
}

/** A number of IEEE 754's 16 bits. */
function half(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
