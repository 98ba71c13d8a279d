import * as ort from 'onnxruntime-node';

const DATA = { int64: BigInt64Array, float32: Float32Array } as const;

/** Most shapes whose tensors are kept; with fixed widths there are far fewer. */
const SHAPES_MAX = 512;

/**
 * Memory for one input or output of a model, kept between runs, with a tensor over it for each shape that was needed. Tensors
 * share the memory: fill, run and read one before asking for the next.
 */
export class KeptTensor<T extends keyof typeof DATA> {
  readonly #type: T;
  readonly #byShape = new Map<string, ort.Tensor>();
  #memory: InstanceType<(typeof DATA)[T]>;

  /** @param capacity elements allocated at first; a larger shape reallocates */
  constructor(type: T, capacity: number) {
    this.#type = type;
    this.#memory = this.#allocate(capacity);
  }

  #allocate(elements: number): InstanceType<(typeof DATA)[T]> {
    return new DATA[this.#type](elements) as InstanceType<(typeof DATA)[T]>;
  }

  of(dims: readonly number[]): ort.Tensor {
    const size = dims.reduce((product, dim) => product * dim, 1);
    if (size > this.#memory.length) {
      this.#memory = this.#allocate(size);
      this.#byShape.clear();
    }
    const shape = dims.join();
    let tensor = this.#byShape.get(shape);
    if (!tensor) {
      if (this.#byShape.size >= SHAPES_MAX) this.#byShape.clear();
      tensor = new ort.Tensor(this.#type, this.#memory.subarray(0, size), dims);
      this.#byShape.set(shape, tensor);
    }
    return tensor;
  }

  /** The memory of a tensor from `of`. */
  static data<D extends BigInt64Array | Float32Array>(tensor: ort.Tensor): D {
    return tensor.data as D;
  }
}
