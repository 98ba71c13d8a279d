import type { Block, Mark } from '@farthing/protocol/document';
import type { Box } from '@farthing/protocol/file/segment';
import { withoutControls } from '../text/charset.ts';
import type { Corners, ReadPage, ReadParagraph } from './page-reader.ts';

interface Size {
  readonly width: number;
  readonly height: number;
}

/** In a picture without text, OCR finds few letters and doubts them. A page with fewer sure ones has no text. */
const SURE_CONFIDENCE = 0.6;
const SURE_LETTERS_MIN = 4;
/** In a scene, leaves and stones are taken for letters. */
const SURE_IN_SCENE = 0.9;

/**
 * The blocks of a page after OCR: one a paragraph, with a mark for each line. A page with hardly a sure word has no
 * blocks.
 *
 * @param size of the page as it was given
 * @param isScene of a picture of something else, only sure lines are taken
 */
export function recognisedBlocks({ paragraphs, turn }: ReadPage, size: Size, isScene = false): Block[] {
  const least = isScene ? SURE_IN_SCENE : SURE_CONFIDENCE;
  const sure = paragraphs
    .flat()
    .filter(({ text, confidence }) => confidence >= least && /[\p{L}\p{N}]{2}/u.test(text))
    .reduce((sum, { text }) => sum + lettersOf(text), 0);
  if (sure < SURE_LETTERS_MIN) return [];
  return paragraphs.flatMap((lines) => {
    const taken = isScene ? lines.filter(({ confidence }) => confidence >= least) : lines;
    const block = taken.length === 0 ? undefined : blockOf(taken, size, turn);
    return block ? [block] : [];
  });
}

const lettersOf = (text: string): number => text.match(/[\p{L}\p{N}]/gu)?.length ?? 0;

function blockOf(lines: ReadParagraph, size: Size, turn: number): Block | undefined {
  let [text, sum] = ['', 0];
  const marks: Mark[] = [];
  for (const line of lines) {
    if (text !== '') text += '\n';
    marks.push({ at: text.length, box: boxOf(line.bbox, size, turn) });
    text += withoutControls(line.text);
    sum += line.confidence;
  }
  if (lettersOf(text) === 0) return undefined;
  return { text, marks, source: 'ocr', confidence: Math.min(1, sum / lines.length) };
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
