/** Words of which nearly every text in English, German, French, Spanish or Italian has some. */
const COMMON = new Set(
  'the of and to in is for that with are this by on as be at der die und das den von ist mit le la les des et est que de los del por con il che per una'.split(
    ' ',
  ),
);
const WORDS_MIN = 8;
const COMMON_SHARE_MIN = 0.12;
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
    if (
      commonShare(shifted(start, -shift)) >= COMMON_SHARE_MIN ||
      commonShare(shifted(start, shift)) >= COMMON_SHARE_MIN
    )
      return true;
  return false;
}

function commonShare(text: string): number {
  const words = text.toLowerCase().match(/[a-z]+/g) ?? [];
  return words.filter((word) => COMMON.has(word)).length / Math.max(WORDS_MIN, words.length);
}

function shifted(text: string, by: number): string {
  return text.replace(/\S/g, (letter) => String.fromCharCode(Math.max(32, letter.charCodeAt(0) + by)));
}
