import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { OWN_MODELS } from '@farthing/native/own-models';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import sharp from 'sharp';
import type { GreyPicture } from '../picture/grey.ts';
import { LINE_HEIGHT } from './line-picture.ts';
import { type FoundRegion, textRegions } from './text-regions.ts';

const FOLDER = join(OWN_MODELS, 'pp-ocr');
/** SHA-256 of what `build.py` makes. */
const FILES = {
  'detector.onnx': '5d5f0dcbce96a018bca5839c35882cdf2685983c2aebfc9d12840a9ed6c58bfd',
  'recogniser.onnx': 'e89ac57955947a6f0c515784a085603760e61bcdd6d51c4f34670166740d5020',
  'characters.txt': 'f7aa897ca828a4c7c9e2739c30f9161a33306d532f020bcdb91dcfb664a5507e',
} as const;
/** Mean and deviation of the colours that the detector is trained with (ImageNet's), blue first. */
const COLOURS = [
  [0.485, 0.229],
  [0.456, 0.224],
  [0.406, 0.225],
] as const;
/** Sides of what the detector takes are multiples of it. */
const DETECTOR_STEP = 32;

/** What a line of writing says. */
export interface RecognisedLine {
  readonly text: string;
  /** 0..1: mean over its characters. */
  readonly confidence: number;
}

/** PP-OCR: a model that finds lines of writing, and one that reads a line (PaddlePaddle, Apache-2.0). One thread. */
export class TextModels {
  readonly #detector: InferenceSession;
  readonly #recogniser: InferenceSession;
  /** By class: nothing, the characters, a space. */
  readonly #characters: readonly string[];

  private constructor(
    detector: InferenceSession,
    recogniser: InferenceSession,
    characters: readonly string[],
  ) {
    this.#detector = detector;
    this.#recogniser = recogniser;
    this.#characters = characters;
  }

  /** From the folder `models/pp-ocr`. @throws Error for a file that is missing or another one */
  static async load(): Promise<TextModels> {
    const options = {
      intraOpNumThreads: 1,
      interOpNumThreads: 1,
      executionMode: 'sequential',
      enableCpuMemArena: false,
      enableMemPattern: false,
    } as const;
    const open = async (name: keyof typeof FILES) => InferenceSession.create(await checked(name), options);
    const [detector, recogniser] = [await open('detector.onnx'), await open('recogniser.onnx')];
    const characters = (await checked('characters.txt')).toString();
    return new TextModels(detector, recogniser, ['', ...characters.split('\n'), ' ']);
  }

  /** @param sideMax pixels of the longer side at which it looks. @returns in pixels of the page */
  async regions(page: GreyPicture, sideMax: number): Promise<FoundRegion[]> {
    const scale = Math.min(1, sideMax / Math.max(page.width, page.height));
    const fit = (side: number) =>
      Math.max(DETECTOR_STEP, Math.round((side * scale) / DETECTOR_STEP) * DETECTOR_STEP);
    const [width, height] = [fit(page.width), fit(page.height)];
    const grey = await sharp(page.grey, { raw: { width: page.width, height: page.height, channels: 1 } })
      .resize(width, height, { fit: 'fill' })
      .toColourspace('b-w')
      .raw()
      .toBuffer();
    const input = new Float32Array(COLOURS.length * grey.length);
    for (const [channel, [mean, deviation]] of COLOURS.entries())
      for (let at = 0; at < grey.length; at++)
        input[channel * grey.length + at] = (grey[at]! / 255 - mean) / deviation;
    const values = await run(this.#detector, input, width, height);
    const [across, down] = [page.width / width, page.height / height];
    return textRegions({ values, width, height }).map((region) => ({
      ...region,
      x: region.x * across,
      y: region.y * down,
      width: region.width * across,
      height: region.height * down,
      thickness: region.thickness * down,
      middles: region.middles.map((middle) => ({ ...middle, across: middle.across * down })),
    }));
  }

  async line({ grey, width }: GreyPicture): Promise<RecognisedLine> {
    const input = new Float32Array(COLOURS.length * grey.length);
    for (let at = 0; at < grey.length; at++) {
      const tone = grey[at]! / 127.5 - 1;
      for (let channel = 0; channel < COLOURS.length; channel++) input[channel * grey.length + at] = tone;
    }
    return this.#decoded(await run(this.#recogniser, input, width, LINE_HEIGHT));
  }

  /** The likeliest class of each step; the same one in a row counts once (connectionist temporal classification, Graves 2006). */
  #decoded(likelihoods: Float32Array): RecognisedLine {
    const classes = this.#characters.length;
    let text = '';
    let [sum, count, previous] = [0, 0, 0];
    for (let step = 0; step < likelihoods.length; step += classes) {
      let best = 0;
      for (let one = 1; one < classes; one++)
        if (likelihoods[step + one]! > likelihoods[step + best]!) best = one;
      if (best !== 0 && best !== previous) {
        text += this.#characters[best]!;
        sum += likelihoods[step + best]!;
        count += 1;
      }
      previous = best;
    }
    // Compatibility characters, such as ℉ and wide letters, become those that people type.
    return { text: text.normalize('NFKC').trim(), confidence: count === 0 ? 0 : sum / count };
  }
}

async function checked(name: keyof typeof FILES): Promise<Buffer> {
  const bytes = await readFile(join(FOLDER, name));
  if (createHash('sha256').update(bytes).digest('hex') !== FILES[name])
    throw new Error(`models/pp-ocr/${name} is not the file that this release was made with`);
  return bytes;
}

async function run(
  session: InferenceSession,
  input: Float32Array,
  width: number,
  height: number,
): Promise<Float32Array> {
  const tensor = new Tensor('float32', input, [1, COLOURS.length, height, width]);
  const outputs = await session.run({ [session.inputNames[0]!]: tensor });
  const output = outputs[session.outputNames[0]!]!;
  const values = output.data as Float32Array;
  output.dispose();
  return values;
}
