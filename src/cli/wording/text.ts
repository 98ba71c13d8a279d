/** Text as a terminal shows it: columns instead of characters, without what would move the cursor. */

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]/u;
const WITHOUT_COLUMN = /[\p{Mn}\p{Me}\p{Cc}\p{Cf}\ue000\ue001]/u;

/** Stand before and after a marked part until the text is in lines; private characters, which `clean` removes from what comes in. */
export const MARK = { start: '\ue000', end: '\ue001' } as const;

/** One line without control characters. */
export function clean(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .replace(/[\p{Cc}\p{Cf}\ue000\ue001]/gu, '')
    .trim();
}

/** Columns that a text takes. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += WITHOUT_COLUMN.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return width;
}

/** The text, or its beginning and an ellipsis. */
export function clip(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let [clipped, width] = ['', 0];
  for (const character of text) {
    width += widthOf(character);
    if (width > columns - 1) break;
    clipped += character;
  }
  return `${clipped}…`;
}

/** A file's name, shortened in its middle: its ending says what it is. */
export function clipName(name: string, columns: number): string {
  if (widthOf(name) <= columns) return name;
  const end = [...name].slice(-Math.floor(columns / 3)).join('');
  return `${clip(name, columns - widthOf(end))}${end}`;
}

/** Padded with spaces to `columns`. */
export function padded(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - widthOf(text)));
}

/** Lines broken between words alone: what is longer than a line (a path, an address) stays whole, so that it can be copied. */
export function wrapWords(text: string, columns: number): string[] {
  return filled(text.split(' '), columns, Infinity);
}

/** Lines of at most `columns`, broken between words if possible. Beyond `linesMax` an ellipsis ends the last. */
export function wrap(text: string, columns: number, linesMax = Infinity): string[] {
  return filled(
    text.split(' ').flatMap((long) => pieces(long, columns)),
    columns,
    linesMax,
  );
}

function filled(words: readonly string[], columns: number, linesMax: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of words) {
    const next = line === '' ? word : `${line} ${word}`;
    if (line === '' || widthOf(next) <= columns) {
      line = next;
      continue;
    }
    if (lines.length + 1 === linesMax) return [...lines, clip(`${line} …`, columns)];
    lines.push(line);
    line = word;
  }
  return [...lines, line];
}

/** A word longer than a line, in pieces. */
function pieces(word: string, columns: number): string[] {
  if (widthOf(word) <= columns) return [word];
  const found = [''];
  for (const character of word) {
    if (widthOf(found.at(-1)! + character) > columns) found.push('');
    found[found.length - 1] += character;
  }
  return found;
}
