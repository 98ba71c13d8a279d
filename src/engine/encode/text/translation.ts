import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { native } from '@farthing/native';
import type { Manifest } from '../models/manifest.ts';
import { pictureTowerOf, type TextTower, type Towers, textTowerOf } from '../models/tower.ts';
import type { Verification } from '../models/verification.ts';
import { toUnitLength } from '../session/session.ts';

/** Words of a language: names of files, codes and abbreviations describe nothing, in any. */
const WORDS = /(?<![\p{L}\p{M}\p{N}_./@-])[\p{L}\p{M}]+(?![\p{L}\p{M}\p{N}_/@]|[.-][\p{L}\p{M}\p{N}])/gu;
const ABBREVIATION = /^\p{Lu}{2,}$/u;

/**
 * Takes queries in other languages into the space of a text model that does not know them: another model encodes them, and an
 * affine map, fitted on texts that both know, takes the vector over (`bench/calibration/translation.ts`).
 */
export class Translation {
  /** The text model that knows the languages. */
  readonly from: string;
  /** The model of the space that it takes queries into. */
  readonly into: TextTower;
  readonly #agreementMin: number;
  /** A row for each dimension of `from`, and one that is added. */
  readonly #map: Float32Array;
  #tokenizer?: InstanceType<typeof native.TextTokenizer>;

  constructor(from: string, into: TextTower, agreementMin: number, map: Float32Array) {
    this.from = from;
    this.into = into;
    this.#agreementMin = agreementMin;
    this.#map = map;
  }

  /**
   * Whether words may be in a language that the space's own model does not know: the detector is sure of one, or, where it is not
   * sure, a word is not whole in the model's vocabulary.
   */
  mayBeForeign(words: string): boolean {
    const { languages } = this.into.settings;
    const detected = native.detectLanguage(words);
    if (detected?.reliable) return languages?.includes(detected.language) === false;
    const own = (words.match(WORDS) ?? []).filter((word) => !ABBREVIATION.test(word));
    return this.#tokens(own.join(' ')) > own.length;
  }

  /** The space's own vector of words where the other model agrees with it, else the other model's vector, taken over. */
  chosen(own: Float32Array, other: Float32Array): Float32Array {
    const taken = this.taken(other);
    return dot(own, taken) >= this.#agreementMin ? own : taken;
  }

  /** A vector of the other model in this space. */
  taken(vector: Float32Array): Float32Array {
    const width = this.into.settings.dimensions;
    const map = this.#map;
    const taken = map.slice(vector.length * width);
    for (let from = 0, at = 0; from < vector.length; from++) {
      const value = vector[from]!;
      for (let into = 0; into < width; into++, at++) taken[into]! += value * map[at]!;
    }
    toUnitLength(taken);
    return taken;
  }

  #tokens(words: string): number {
    const { tokenizerPath, settings } = this.into;
    const rules = { limit: settings.limit, specialTokens: false, dropped: [] };
    this.#tokenizer ??= new native.TextTokenizer(tokenizerPath, rules);
    return this.#tokenizer.encode([words], '').lengths()[0]!;
  }
}

/** The translation into the space of pictures' labels, by a model that may fill an index here; undefined without one. */
export async function translationIn(
  { models, use, other_languages }: Manifest,
  towers: Towers,
  folder: string,
  verification: Verification,
  log: (event: object) => void,
): Promise<Translation | undefined> {
  const bridge = pictureTowerOf(towers)?.bridge;
  const into = bridge && textTowerOf(towers, bridge.textModel);
  const names = [use.text_semantic, other_languages];
  const from = models.find(
    ({ name, text }) => names.includes(name) && text?.translation?.into === into?.model,
  );
  if (!into || !from) return undefined;
  const { file, agreement_min } = from.text!.translation!;
  const listed = from.files[file]!;
  const bytes = 4 * into.settings.dimensions * (from.text!.dimensions + 1);
  const refusal =
    (await verification.refusal(listed)) ??
    (listed.bytes === bytes ? undefined : `${listed.path} has not ${bytes} bytes`);
  if (refusal) {
    log({ event: 'translation_missing', model: from.name, reason: refusal });
    return undefined;
  }
  const map = new Float32Array(new Uint8Array(await readFile(join(folder, listed.path))).buffer);
  return new Translation(from.name, into, agreement_min, map);
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (const [index, value] of a.entries()) sum += value * b[index]!;
  return sum;
}
