/** A part of a page's text. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** Left and right edge of a character, in any unit. */
export type EdgesOf = (at: number) => readonly [left: number, right: number] | undefined;

/** A gap this many times as wide as a character divides columns; in justified text words are at most half as far apart. */
const GUTTER_WIDTH_MIN = 2.5;
/** Fewer lines beside each other may be anything. */
const ROWS_MIN = 3;
/** Shorter lines are cells of a table, which are read by row. */
const COLUMN_LETTERS_MIN = 15;
const COLUMN_WORDS_MIN = 3;
/** Of all characters: figures are read by row, too. */
const DIGITS_SHARE_MAX = 0.15;

interface Gutter {
  readonly left: number;
  readonly right: number;
}

/** A line, and the gaps in it that may divide columns. */
interface Row {
  readonly parts: readonly Range[];
  readonly gutters: readonly Gutter[];
}

/**
 * The lines of a page's text in the order in which they are read: columns whose lines were drawn row by row stand in one line each,
 * and come apart. Tables keep their rows.
 */
export function inReadingOrder(text: string, edgesOf: EdgesOf): Range[] {
  const rows = linesOf(text).map((line) => rowOf(text, line, edgesOf));
  const ordered: Range[] = [];
  for (let at = 0; at < rows.length; ) {
    const block = blockAt(rows, at);
    const columns = rows[at]!.parts.map((_, column) => block.map((row) => row.parts[column]!));
    const isProse = block.length >= ROWS_MIN && columns.every((parts) => readsAsText(text, parts));
    ordered.push(...(isProse ? columns.flat() : block.map(wholeOf)));
    at += block.length;
  }
  return ordered;
}

/** The lines of a text, without their ends. */
export function linesOf(text: string): Range[] {
  let from = 0;
  return text.split('\n').map((line) => {
    const range = { from, to: from + line.replace(/\r$/, '').length };
    from += line.length + 1;
    return range;
  });
}

function wholeOf({ parts }: Row): Range {
  return { from: parts[0]!.from, to: parts.at(-1)!.to };
}

/** Divides a line where words are far apart. */
function rowOf(text: string, line: Range, edgesOf: EdgesOf): Row {
  const undivided = { parts: [line], gutters: [] };
  const gaps = [...text.slice(line.from, line.to).matchAll(/\S( +)(?=\S)/g)];
  const [first, last] = [edgesOf(line.from), edgesOf(line.to - 1)];
  if (gaps.length === 0 || !first || !last) return undivided;
  const width = (last[1] - first[0]) / (line.to - line.from);
  const parts: Range[] = [];
  const gutters: Gutter[] = [];
  let from = line.from;
  for (const { index, 1: spaces } of gaps) {
    const end = line.from + index + 1;
    const left = edgesOf(end - 1)?.[1];
    const right = edgesOf(end + spaces!.length)?.[0];
    if (left === undefined || right === undefined || right - left < width * GUTTER_WIDTH_MIN) continue;
    parts.push({ from, to: end });
    gutters.push({ left, right });
    from = end + spaces!.length;
  }
  return gutters.length === 0 ? undivided : { parts: [...parts, { from, to: line.to }], gutters };
}

/** The rows from one on whose columns have the same gaps between them; one alone where it has none. */
function blockAt(rows: readonly Row[], start: number): Row[] {
  const block = [rows[start]!];
  let common = block[0]!.gutters;
  if (common.length === 0) return block;
  for (const row of rows.slice(start + 1)) {
    if (row.gutters.length !== common.length) break;
    const narrowed = common.map((gutter, at) => ({
      left: Math.max(gutter.left, row.gutters[at]!.left),
      right: Math.min(gutter.right, row.gutters[at]!.right),
    }));
    if (narrowed.some(({ left, right }) => right <= left)) break;
    common = narrowed;
    block.push(row);
  }
  return block;
}

function readsAsText(text: string, parts: readonly Range[]): boolean {
  const lines = parts.map(({ from, to }) => text.slice(from, to));
  const all = lines.join(' ');
  const digits = all.match(/\p{N}/gu)?.length ?? 0;
  const words = all.match(/\p{L}{2,}/gu)?.length ?? 0;
  return (
    all.length >= lines.length * COLUMN_LETTERS_MIN &&
    words >= lines.length * COLUMN_WORDS_MIN &&
    digits <= all.length * DIGITS_SHARE_MAX
  );
}
