/**
 * Control characters but tabs, ends of lines and of pages, what has no width (but the joiners that some scripts need), what turns the text
 * around it, and tags: a person who reads the text sees none of them, and an agent does.
 */
const UNSEEN =
  /(?![\t\n\f\r])\p{Cc}|[\u200b\u2028\u2029\u202a-\u202e\u2060\u2066-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;
/** U+FFFD stands where bytes were no UTF-8: names that were damaged in this way may have become one. */
const NO_NAME = new RegExp(`${UNSEEN.source}|[\\p{Cc}\\ufffd]`, 'u');
const SEPARATORS = /[\u2028\u2029]/g;

/** A text without invisible characters, and well formed. */
export function visible(text: string): string {
  return text.replace(SEPARATORS, '\n').replace(UNSEEN, '').toWellFormed();
}

/** Whether a text may identify something: it is well formed, and has nothing that a reader of it does not see. */
export function canIdentify(text: string): boolean {
  return text.isWellFormed() && !NO_NAME.test(text);
}

/** A file's name, or a part of its path, without invisible characters and those that reverse the text around them. */
export function printable(name: string): string {
  return visible(name.replace(/[\p{Cc}\u2028\u2029]/gu, '')).trim();
}

/** A text without invisible characters, and its offsets, which point at the same characters as before. */
export function visibleWith<Place extends { readonly at: number }>(
  text: string,
  places: readonly Place[] | undefined,
): { readonly text: string; readonly marks?: readonly Place[] } {
  const shown = visible(text);
  if (!places || shown.length === text.length) return { text: shown, ...(places && { marks: places }) };
  const marks: Place[] = [];
  let [from, before] = [0, 0];
  for (const place of [...places].sort((a, b) => a.at - b.at)) {
    before += visible(text.slice(from, place.at)).length;
    from = Math.max(from, place.at);
    marks.push({ ...place, at: before });
  }
  return { text: shown, marks };
}
