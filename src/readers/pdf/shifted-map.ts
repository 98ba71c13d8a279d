/** Words of which nearly every text in English, German, French, Spanish or Italian has some. */
const COMMON = new Set(
  'the of and to in is for that with are this by on as be at der die und das den von ist mit le la les des et est que de los del por con il che per una'.split(
    ' ',
  ),
);
const WORDS_MIN = 8;
const COMMON_SHARE_MIN = 0.12;
/** Of different words of three letters or more: shifted numbers make shorter ones by chance. */
const COMMON_MIN = 3;
const LONG = 3;
const SHIFT_MAX = 40;
const JUDGED_LENGTH = 4_000;

/**
 * Whether the letters of a text stand a fixed number of places beside the right ones, as where a font's table of letters is wrong on
 * purpose or by a program's fault. The page shows other words than its text says.
 */
export function hasShiftedLetters(text: string): boolean {
  const start = text.slice(0, JUDGED_LENGTH);
  if (start.split(/\s+/).length < WORDS_MIN || commonShare(start) >= COMMON_SHARE_MIN / 4) return false;
  for (let shift = 1; shift <= SHIFT_MAX; shift++)
    if (reads(shifted(start, -shift)) || reads(shifted(start, shift))) return true;
  return false;
}

function reads(text: string): boolean {
  if (commonShare(text) < COMMON_SHARE_MIN) return false;
  return new Set(commonWords(text).filter(({ length }) => length >= LONG)).size >= COMMON_MIN;
}

function commonShare(text: string): number {
  return commonWords(text).length / Math.max(WORDS_MIN, wordsOf(text).length);
}

function commonWords(text: string): string[] {
  return wordsOf(text).filter((word) => COMMON.has(word));
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[a-z]+/g) ?? [];
}

function shifted(text: string, by: number): string {
  return text.replace(/\S/g, (letter) => String.fromCharCode(Math.max(32, letter.charCodeAt(0) + by)));
}
