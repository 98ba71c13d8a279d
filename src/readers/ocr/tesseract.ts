import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { GreyPicture } from '../picture/grey.ts';
import type { Corners } from './page-reader.ts';

/** The calls of Tesseract that are used (include/tesseract/baseapi.h, as tesseract.js-core binds them). */
interface BaseApi {
  Init(dataPath: null, languages: string, engine: number, config: undefined): number;
  SetImageFile(exifOrientation: number, angle: number): number;
  Recognize(monitor: null): number;
  GetJSONText(page: number): string;
  Clear(): void;
}

interface Core {
  readonly FS: { writeFile(path: string, data: Uint8Array): void };
  readonly TessBaseAPI: new () => BaseApi;
}

interface TesseractWord {
  readonly text: string;
  /** 0..100. */
  readonly confidence: number;
}

/** As Tesseract tells it. */
export interface TesseractParagraph {
  readonly lines: readonly { readonly bbox: Corners; readonly words: readonly TesseractWord[] }[];
}

const LSTM_ONLY = 1; // OEM_LSTM_ONLY
const require = createRequire(import.meta.url);

const CORE = 'tesseract.js-core';

/** The package with a language's data. @param language ISO 639-2 code: `rus`, `kor`, `chi_tra`, … */
const languagePackage = (language: string): string => `@tesseract.js-data/${language}`;

/** Packages that languages need and that are not installed: Tesseract itself, and the data of each. */
export function missingPackages(languages: readonly string[]): string[] {
  const isInstalled = (path: () => unknown) => {
    try {
      path();
      return true;
    } catch {
      return false;
    }
  };
  return [
    ...(isInstalled(() => require.resolve(CORE)) ? [] : [CORE]),
    ...languages.filter((language) => !isInstalled(() => dataFile(language))).map(languagePackage),
  ];
}

function dataFile(language: string): string {
  if (!/^[a-z]{3}(_[a-z]{1,8})?$/i.test(language)) throw new RangeError(`${language} is no language code`);
  const folder = join(require.resolve(`${languagePackage(language)}/package.json`), '..');
  return join(folder, '4.0.0_best_int', `${language}.traineddata.gz`);
}

/** Tesseract as WebAssembly, on this thread: its process does nothing else. */
export class Tesseract {
  readonly #core: Core;
  readonly #api: BaseApi;

  private constructor(core: Core, api: BaseApi) {
    this.#core = core;
    this.#api = api;
  }

  /** Reads the languages' data from their packages. @throws when one is not installed. */
  static async load(languages: readonly string[]): Promise<Tesseract> {
    const create = require(`${CORE}/tesseract-core-simd-lstm`) as (options: object) => Promise<Core>;
    const core = await create({});
    for (const language of languages)
      core.FS.writeFile(`/${language}.traineddata`, gunzipSync(readFileSync(dataFile(language))));
    const api = new core.TessBaseAPI();
    if (api.Init(null, languages.join('+'), LSTM_ONLY, undefined) !== 0)
      throw new Error('Tesseract does not start');
    return new Tesseract(core, api);
  }

  /** The text of a picture, in reading order. Blocks the thread for seconds. */
  read({ grey, width, height }: GreyPicture): TesseractParagraph[] {
    const picture = Buffer.concat([Buffer.from(`P5\n${width} ${height}\n255\n`), grey]);
    this.#core.FS.writeFile('/input', picture);
    if (this.#api.SetImageFile(1, 0) === 1) throw new RangeError('Tesseract takes no such picture');
    this.#api.Recognize(null);
    const { blocks } = JSON.parse(this.#api.GetJSONText(0)) as {
      blocks: readonly { paragraphs?: readonly TesseractParagraph[] }[];
    };
    this.#api.Clear();
    return blocks.flatMap(({ paragraphs }) => paragraphs ?? []);
  }
}
