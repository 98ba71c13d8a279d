import { join, resolve } from 'node:path';
import * as ort from 'onnxruntime-node';
import { readManifest } from '../../src/engine/encode/models/read-manifest.ts';
import type { PictureContent, PictureSpec } from '../../src/protocol/document.ts';

const MODELS = resolve(import.meta.dirname, '../../models');
const ROWS = 4;

/** The embedded picture model and nothing around it, on one thread. */
export class BarePictureModel {
  readonly spec: PictureSpec;
  readonly #session: ort.InferenceSession;
  readonly #input: string;

  static async open(): Promise<BarePictureModel> {
    const manifest = await readManifest(MODELS);
    const entry = manifest.models.find(({ name }) => name === manifest.use.visual)!;
    const part = entry.picture!;
    const variant = part.variants.find(({ providers }) => providers.includes('cpu'))!;
    const session = await ort.InferenceSession.create(join(MODELS, entry.files[variant.file]!.path), {
      intraOpNumThreads: 1,
      interOpNumThreads: 1,
      logSeverityLevel: 4,
    });
    return new BarePictureModel(session, part.input, part);
  }

  private constructor(session: ort.InferenceSession, input: string, spec: PictureSpec) {
    this.#session = session;
    this.#input = input;
    this.spec = { width: spec.width, height: spec.height, fit: spec.fit, resample: spec.resample };
  }

  /** @returns seconds of its runs alone. */
  async run(pictures: readonly PictureContent[]): Promise<number> {
    const { width, height } = this.spec;
    let milliseconds = 0;
    for (let start = 0; start < pictures.length; start += ROWS) {
      const rows = pictures.slice(start, start + ROWS);
      const values = new Float32Array(rows.length * 3 * width * height);
      for (const [row, { pixels }] of rows.entries()) {
        for (let at = 0; at < width * height; at++) {
          for (let channel = 0; channel < 3; channel++)
            values[(row * 3 + channel) * width * height + at] = pixels.rgb[3 * at + channel]! / 127.5 - 1;
        }
      }
      const feeds = { [this.#input]: new ort.Tensor('float32', values, [rows.length, 3, height, width]) };
      const began = performance.now();
      await this.#session.run(feeds);
      milliseconds += performance.now() - began;
    }
    return milliseconds / 1000;
  }
}
