import type { GreyPicture } from '../picture/grey.ts';
import { type PageReader, type ReadLine, type ReadPage, turned } from './page-reader.ts';
import type { Tesseract, TesseractParagraph } from './tesseract.ts';

/** Words below this are guesses at dirt or drawings. */
const WORD_CONFIDENCE_MIN = 30;
const SURE_CONFIDENCE = 60;
/** Letters below which nothing is told from the share of the sure ones. */
const LETTERS_MIN = 60;
/**
 * Of the letters of a page's words, those of sure words. Of seven scans and screenshots .70 to .95 as they are to be read, and at most
 * .19 turned by any right angle.
 */
const SURE_SHARE_MIN = 0.4;
/** Upside down it was .11 or more, sideways .03 or less. */
const UPRIGHT_SHARE_MIN = 0.06;
/** Letters of a word from which on it is no guess. */
const WORD_LETTERS_MIN = 3;

/** Reads pages with Tesseract, for writing that PP-OCR does not know. */
export class TesseractPageReader implements PageReader {
  readonly #tesseract: Tesseract;

  constructor(tesseract: Tesseract) {
    this.#tesseract = tesseract;
  }

  /** Reads a page as it is, and turned where that gives hardly a sure word. One that is read well in no way has no text. */
  async read(page: GreyPicture): Promise<ReadPage> {
    const upright = this.#tesseract.read(page);
    const turns = turnsFor(sureShare(upright));
    if (turns.length === 0) return { paragraphs: upright.map(linesOf), turn: 0 };
    for (const turn of turns) {
      const paragraphs = this.#tesseract.read(turned(page, turn));
      if ((sureShare(paragraphs) ?? 0) >= SURE_SHARE_MIN)
        return { paragraphs: paragraphs.map(linesOf), turn };
    }
    return { paragraphs: [], turn: 0 };
  }
}

/** How sure Tesseract is of a page: the share of its letters that are in sure words. Undefined for a page with few letters. */
function sureShare(paragraphs: readonly TesseractParagraph[]): number | undefined {
  let [sure, all] = [0, 0];
  for (const { text, confidence } of paragraphs.flatMap(({ lines }) => lines.flatMap(({ words }) => words))) {
    const letters = text.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
    all += letters;
    if (confidence >= SURE_CONFIDENCE && letters >= WORD_LETTERS_MIN) sure += letters;
  }
  return all < LETTERS_MIN ? undefined : sure / all;
}

/** The quarters of a turn by which a page may be turned, the likeliest first: none for one that is read well, or has few letters. */
function turnsFor(share = 1): readonly (1 | 2 | 3)[] {
  if (share >= SURE_SHARE_MIN) return [];
  return share >= UPRIGHT_SHARE_MIN ? [2, 1, 3] : [1, 3, 2];
}

function linesOf({ lines }: TesseractParagraph): ReadLine[] {
  return lines.flatMap(({ bbox, words }) => {
    const kept = words.filter(
      ({ text, confidence }) => confidence >= WORD_CONFIDENCE_MIN && text.trim() !== '',
    );
    if (kept.length === 0) return [];
    const confidence = kept.reduce((sum, word) => sum + word.confidence / 100, 0) / kept.length;
    return [{ text: kept.map(({ text }) => text.trim()).join(' '), confidence, bbox }];
  });
}
