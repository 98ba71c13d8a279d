import type { Block, Mark } from '../../domain/document.ts';
import { withoutControls } from '../text/charset.ts';
import type { ReadLine, ReadParagraph } from './tesseract.ts';

/** Words below this are guesses at dirt or drawings. */
const WORD_CONFIDENCE_MIN = 30;
/** In a picture without text, OCR finds few words and doubts them. A page with fewer sure words has no text. */
const SURE_CONFIDENCE = 60;
const SURE_WORDS_MIN = 2;

/**
 * The blocks of a page after OCR: one a paragraph, with a mark for each line. A page with hardly a sure word has no
 * blocks.
 */
export function recognisedBlocks(
  paragraphs: readonly ReadParagraph[],
  size: { readonly width: number; readonly height: number },
  page: number | undefined,
): Block[] {
  const words = paragraphs.flatMap(({ lines }) => lines.flatMap((line) => line.words));
  const sure = words.filter(
    ({ text, confidence }) => confidence >= SURE_CONFIDENCE && /[\p{L}\p{N}]{2}/u.test(text),
  );
  if (sure.length < SURE_WORDS_MIN) return [];
  return paragraphs.flatMap((paragraph) => {
    const block = blockOf(paragraph.lines, size);
    return block ? [{ ...block, ...(page !== undefined && { page }) }] : [];
  });
}

function blockOf(
  lines: readonly ReadLine[],
  { width, height }: { readonly width: number; readonly height: number },
): Block | undefined {
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
      box: {
        x: share(bbox.x0, width),
        y: share(bbox.y0, height),
        width: share(bbox.x1 - bbox.x0, width),
        height: share(bbox.y1 - bbox.y0, height),
      },
    });
    text += withoutControls(kept.map((word) => word.text.trim()).join(' '));
    for (const word of kept) confidence += word.confidence / 100;
    count += kept.length;
  }
  if (!/[\p{L}\p{N}]/u.test(text)) return undefined;
  return { text, marks, source: 'ocr', confidence: Math.min(1, confidence / count) };
}

/** A share, 0..1, with four decimals: a tenth of a millimetre on a page. */
export function share(part: number, whole: number): number {
  return Math.round(Math.min(1, Math.max(0, part / whole)) * 10_000) / 10_000;
}
