/**
 * What stands for raised letters behind others: m² is a word; a mark of a note behind a word is not a part of it, and 10⁶ is not 106.
 * @param before the letters and digits right before them
 */
export function raised(before: string, letters: string): string {
  const mark = letters.trim();
  if (mark === '') return '';
  if (/\d$/.test(before)) return `^${mark}`;
  const isUnit = /^[-−]?[1-9]$/.test(mark) && before.length > 0 && before.length <= 2;
  return isUnit || (before !== '' && /^\p{L}/u.test(mark)) ? mark : ` ${mark}`;
}

/** What is crossed out is not said any more, and whoever reads it without its line would not know. */
export const STRUCK = ['[struck out: ', ']'] as const;
