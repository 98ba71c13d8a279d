import { native } from '@farthing/native';
import { type Candidate, inputBytes, type LabelBridge, type PictureTower } from '../models/tower.ts';
import { KeptTensor } from '../session/kept-tensor.ts';
import type { Runner, RunTotals, Use } from '../session/runner.ts';
import { paddedRows, type Session, toUnitLength } from '../session/session.ts';

/** A picture model in one worker: normalises, runs, and, with a label bridge, places pictures among words. */
export class PictureRunner implements Runner {
  readonly #tower: PictureTower;
  readonly #candidate: Candidate;
  readonly #session: Session;
  /** Embeddings of the labels, row by row, shared by all workers; filled before the first picture arrives. */
  readonly #labels: Float32Array;
  readonly #input: KeptTensor<'float32'>;

  constructor(tower: PictureTower, candidate: Candidate, session: Session, labels: Float32Array) {
    this.#tower = tower;
    this.#candidate = candidate;
    this.#session = session;
    this.#labels = labels;
    this.#input = new KeptTensor('float32', Math.max(candidate.queryRows, candidate.ingestRows) * this.#size);
  }

  get #size(): number {
    return inputBytes(this.#tower);
  }

  get dimensions(): number {
    return this.#tower.settings.dimensions;
  }

  /**
   * Encodes `count` pictures, one after the other in `rgb`, into rows of `target`: the picture's vector and, if `bridged`, its
   * vector among words. Both have unit length.
   * @throws Error when `bridged` and the model has no bridge
   */
  async encode(
    rgb: Uint8Array,
    count: number,
    use: Use,
    target: Float32Array,
    bridged: boolean,
  ): Promise<RunTotals> {
    const bridge = bridged ? this.#tower.bridge : undefined;
    if (bridged && !bridge) throw new Error('the picture model has no words in this worker');
    const stride = this.dimensions + (bridge?.dimensions ?? 0);
    const most = use === 'query' ? this.#candidate.queryRows : this.#candidate.ingestRows;
    let runs = 0;
    for (let start = 0; start < count; start += most) {
      const rows = Math.min(most, count - start);
      await this.#run(
        rgb.subarray(start * this.#size, (start + rows) * this.#size),
        rows,
        target.subarray(start * stride),
        bridge,
      );
      runs += 1;
    }
    return { runs, tokens: 0, padding: 0 };
  }

  async probe(): Promise<Float32Array> {
    const vector = new Float32Array(this.dimensions);
    await this.encode(testPattern(this.#tower), 1, 'query', vector, false);
    return vector;
  }

  async #run(
    rgb: Uint8Array,
    rows: number,
    target: Float32Array,
    bridge: LabelBridge | undefined,
  ): Promise<void> {
    const { width, height, layout, mean, std, input, output, dimensions, normalise } = this.#tower.settings;
    const size = this.#size;
    const stride = dimensions + (bridge?.dimensions ?? 0);
    // Padding rows keep the pixels of an earlier run.
    const filled = paddedRows(rows, this.#candidate.rowCounts);
    const tensor = this.#input.of(
      layout === 'nchw' ? [filled, 3, height, width] : [filled, height, width, 3],
    );
    const values = KeptTensor.data<Float32Array>(tensor);
    for (let row = 0; row < rows; row++) {
      const from = row * size;
      native.normalisePixels(
        rgb.subarray(from, from + size),
        mean,
        std,
        layout,
        values.subarray(from, from + size),
      );
    }
    const found = await this.#session.run(
      { [input]: tensor },
      {
        [output]: [filled, dimensions],
        ...(bridge ? { [bridge.output]: [filled, bridge.labels.length] } : {}),
      },
    );
    const vectors = found[output]!;
    if (vectors.data.length !== filled * dimensions)
      throw new Error(`the model's output has the shape ${vectors.dims.join(' × ')}`);
    for (let row = 0; row < rows; row++) {
      const vector = target.subarray(row * stride, row * stride + dimensions);
      vector.set(vectors.data.subarray(row * dimensions, (row + 1) * dimensions));
      if (normalise) toUnitLength(vector);
      if (!bridge) continue;
      const start = row * stride + dimensions;
      const classes = bridge.labels.length;
      const likelihoods = found[bridge.output]!.data.subarray(row * classes, (row + 1) * classes);
      placeAmongWords(likelihoods, bridge, this.#labels, target.subarray(start, start + bridge.dimensions));
    }
  }
}

/** A picture with edges, ramps and colours. */
function testPattern({ settings: { width, height } }: PictureTower): Uint8Array {
  const rgb = new Uint8Array(width * height * 3);
  let at = 0;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      rgb[at++] = (x * 255) / width;
      rgb[at++] = (y * 255) / height;
      rgb[at++] = ((x >> 4) ^ (y >> 4)) & 1 ? 220 : 40;
    }
  }
  return rgb;
}

/**
 * A picture's vector in a text model's space: the mean of the embeddings of its likeliest labels, weighted by their
 * likelihood (ConSE, Norouzi et al. 2013, arXiv:1312.5650) or its square root.
 */
export function placeAmongWords(
  likelihoods: Float32Array,
  { top, weight, dimensions }: Pick<LabelBridge, 'top' | 'weight' | 'dimensions'>,
  labels: Float32Array,
  target: Float32Array,
): void {
  const order = Uint32Array.from(likelihoods.keys()).sort(
    (a, b) => likelihoods[b]! - likelihoods[a]! || a - b,
  );
  target.fill(0);
  for (const label of order.subarray(0, top)) {
    const share = weight === 'sqrt' ? Math.sqrt(likelihoods[label]!) : likelihoods[label]!;
    const start = label * dimensions;
    for (let index = 0; index < dimensions; index++) target[index]! += share * labels[start + index]!;
  }
  toUnitLength(target);
}
