import { knownShare } from '../pdf/known-words.ts';
import type { WrittenRegion } from './page-layout.ts';

/**
 * Signs of a script that the models do not read become letters that nobody wrote. They are doubted: on drawn pages in Greek, Arabic,
 * Hebrew, Armenian, Thai and Korean the mean was .58 to .84, in Latin ones .97 and more. Capitals of Greek are surer.
 */
const READ_CONFIDENCE = 0.85;
/** Chinese and Japanese have many signs, which look alike. */
const SIGNS_CONFIDENCE = 0.7;
/** Of doubted words, those that are known on a page that is only hard to read. */
const KNOWN_SHARE_MIN = 0.25;
/** Of all letters: more are no symbols of a formula. */
const GREEK_SHARE_MAX = 0.1;
const SURE_LINE = 0.9;

/** The lines that are of a script that is read: all of a page in such a script, otherwise those that are sure and have known words. */
export function ofReadScript(lines: readonly WrittenRegion[]): readonly WrittenRegion[] {
  if (lines.length === 0 || isRead(lines, READ_CONFIDENCE)) return lines;
  return lines.filter((line) => knownShare(line.text) >= KNOWN_SHARE_MIN && isRead([line], SURE_LINE));
}

function isRead(lines: readonly WrittenRegion[], least: number): boolean {
  const text = lines.map((line) => line.text).join(' ');
  const count = (pattern: RegExp): number => text.match(pattern)?.length ?? 0;
  const letters = count(/\p{L}/gu);
  if (count(/\p{Script=Greek}/gu) > letters * GREEK_SHARE_MAX) return false;
  const isOfSigns = count(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu) > letters / 2;
  const length = lines.reduce((sum, line) => sum + line.text.length, 0);
  const confidence = lines.reduce((sum, line) => sum + line.text.length * line.confidence, 0) / length;
  if (confidence >= (isOfSigns ? SIGNS_CONFIDENCE : least)) return true;
  const doubted = lines.filter((line) => line.confidence < least).map((line) => line.text);
  return knownShare(doubted.join(' ')) >= KNOWN_SHARE_MIN;
}
