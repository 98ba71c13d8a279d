import type { Block, Mark } from '../../domain/document.ts';
import type { Box } from '../../domain/file/segment.ts';
import { withoutControls } from '../text/charset.ts';
import type { Corners, ReadLine, ReadParagraph } from './tesseract.ts';

interface Size {
  readonly width: number;
  readonly height: number;
}

/** Words below this are guesses at dirt or drawings. */
const WORD_CONFIDENCE_MIN = 30;
/** In a picture without text, OCR finds few words and doubts them. A page with fewer sure words has no text. */
const SURE_CONFIDENCE = 60;
const SURE_WORDS_MIN = 2;

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

/** How sure OCR is of a page: the share of its letters that are in sure words. Undefined for a page with few letters. */
export function sureShare(paragraphs: readonly ReadParagraph[]): number | undefined {
  let [sure, all] = [0, 0];
  for (const { text, confidence } of paragraphs.flatMap(({ lines }) => lines.flatMap(({ words }) => words))) {
    const letters = text.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
    all += letters;
    if (confidence >= SURE_CONFIDENCE && letters >= WORD_LETTERS_MIN) sure += letters;
  }
  return all < LETTERS_MIN ? undefined : sure / all;
}

export function isReadWell(paragraphs: readonly ReadParagraph[]): boolean {
  return (sureShare(paragraphs) ?? 0) >= SURE_SHARE_MIN;
}

/** The quarters of a turn by which a page may be turned, the likeliest first: none for one that is read well, or has few letters. */
export function turnsFor(share = 1): readonly (1 | 2 | 3)[] {
  if (share >= SURE_SHARE_MIN) return [];
  return share >= UPRIGHT_SHARE_MIN ? [2, 1, 3] : [1, 3, 2];
}

/**
 * The blocks of a page after OCR: one a paragraph, with a mark for each line. A page with hardly a sure word has no
 * blocks.
 *
 * @param size of the page as it was given
 * @param turn quarters by which it was turned clockwise before it was read
 */
export function recognisedBlocks(paragraphs: readonly ReadParagraph[], size: Size, turn = 0): Block[] {
  const words = paragraphs.flatMap(({ lines }) => lines.flatMap((line) => line.words));
  const sure = words.filter(
    ({ text, confidence }) => confidence >= SURE_CONFIDENCE && /[\p{L}\p{N}]{2}/u.test(text),
  );
  if (sure.length < SURE_WORDS_MIN) return [];
  return paragraphs.flatMap((paragraph) => {
    const block = blockOf(paragraph.lines, size, turn);
    return block ? [block] : [];
  });
}

function blockOf(lines: readonly ReadLine[], size: Size, turn: number): Block | undefined {
  let text = '';
  let confidence = 0;
  let count = 0;
  const marks: Mark[] = [];
  for (const { words, bbox } of lines) {
    const kept = words.filter((word) => word.confidence >= WORD_CONFIDENCE_MIN && word.text.trim() !== '');
    if (kept.length === 0) continue;
    if (text !== '') text += '\n';
    marks.push({
      at: text.length,
      box: boxOf(bbox, size, turn),
    });
    text += withoutControls(kept.map((word) => word.text.trim()).join(' '));
    for (const word of kept) confidence += word.confidence / 100;
    count += kept.length;
  }
  if (!/[\p{L}\p{N}]/u.test(text)) return undefined;
  return { text, marks, source: 'ocr', confidence: Math.min(1, confidence / count) };
}

/** Where corners of a turned page are on the page as it was given. */
function boxOf({ x0, y0, x1, y1 }: Corners, { width, height }: Size, turn: number): Box {
  const [left, top, right, bottom] = (
    [
      [x0, y0, x1, y1],
      [y0, height - x1, y1, height - x0],
      [width - x1, height - y1, width - x0, height - y0],
      [width - y1, x0, width - y0, x1],
    ] as const
  )[turn]!;
  return {
    x: share(left, width),
    y: share(top, height),
    width: share(right - left, width),
    height: share(bottom - top, height),
  };
}

/** A share, 0..1, with four decimals: a tenth of a millimetre on a page. */
export function share(part: number, whole: number): number {
  return Math.round(Math.min(1, Math.max(0, part / whole)) * 10_000) / 10_000;
}
