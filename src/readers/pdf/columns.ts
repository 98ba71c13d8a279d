import { namedRows } from './named-rows.ts';

/** A part of a page's text. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** A line in the order of reading. */
export interface OrderedLine extends Range {
  /** A row of a table with the names of its columns, in place of its text. */
  readonly shown?: string;
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

/** A line, its edges, and the gaps in it that may divide columns. */
export interface Row extends Gutter {
  readonly parts: readonly Range[];
  readonly gutters: readonly Gutter[];
}

/** Of a column's width, what a line has at least that goes on below the end of the column beside it. */
const ALONE_WIDTH_MIN = 0.6;

/**
 * The lines of a page's text in the order in which they are read: columns whose lines were drawn row by row stand in one line each,
 * and come apart, also where one of them is longer. Tables keep their rows, with the names of their columns.
 */
export function inReadingOrder(text: string, edgesOf: EdgesOf): OrderedLine[] {
  const rows = linesOf(text).map((line) => rowOf(text, line, edgesOf));
  const named = namedRows(text, rows);
  const ordered: OrderedLine[] = [];
  for (let at = 0; at < rows.length; ) {
    const shown = named.get(at);
    if (shown !== undefined) {
      ordered.push({ ...wholeOf(rows[at]!), shown });
      at++;
      continue;
    }
    const block = blockAt(rows, at, (index) => named.has(index));
    const columns = rows[at]!.parts.map((_, column) => block.flatMap(({ parts }) => parts[column] ?? []));
    const isProse = block.length >= ROWS_MIN && columns.every((parts) => readsAsText(text, parts));
    ordered.push(...(isProse ? columns.flat() : rows.slice(at, at + block.length).map(wholeOf)));
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
  const [first, last] = line.to > line.from ? [edgesOf(line.from), edgesOf(line.to - 1)] : [];
  const [left, right] = [first?.[0] ?? Number.NaN, last?.[1] ?? Number.NaN];
  const undivided = { parts: [line], gutters: [], left, right };
  const gaps = [...text.slice(line.from, line.to).matchAll(/\S( +)(?=\S)/g)];
  if (gaps.length === 0 || !first || !last) return undivided;
  const spaces = gaps.flatMap(({ index, 1: between }) => {
    const [end, start] = [line.from + index + 1, line.from + index + 1 + between!.length];
    const [before, behind] = [edgesOf(end - 1)?.[1], edgesOf(start)?.[0]];
    return before === undefined || behind === undefined ? [] : [{ end, start, left: before, right: behind }];
  });
  let gutters: typeof spaces = [];
  // Of a character; then without the gaps that were found, which make it seem wider.
  for (let width = (right - left) / (line.to - line.from), passes = 0; passes < 2; passes++) {
    gutters = spaces.filter((space) => space.right - space.left >= width * GUTTER_WIDTH_MIN);
    const wide = gutters.reduce((sum, gutter) => sum + gutter.right - gutter.left, 0);
    width = (right - left - wide) / (line.to - line.from);
  }
  const parts = [...gutters, undefined].map((gutter, at) => ({
    from: gutters[at - 1]?.start ?? line.from,
    to: gutter?.end ?? line.to,
  }));
  if (gutters.length === 0) return undivided;
  return { parts, gutters, left, right };
}

/** A row of a block: the part of each column, if it has one there. */
interface Divided {
  readonly parts: readonly (Range | undefined)[];
  readonly isAlone: boolean;
}

/**
 * The rows from one on whose columns have the same gaps between them, and of two columns the lines that stand in one of them alone; one
 * row where it has no gaps.
 */
function blockAt(rows: readonly Row[], start: number, ends: (index: number) => boolean): Divided[] {
  const first = rows[start]!;
  const block: Divided[] = [{ parts: first.parts, isAlone: false }];
  let common = first.gutters;
  if (common.length === 0) return block;
  /** Where the text of the columns begins and ends. */
  let [from, to] = [first.left, first.right];
  for (let at = start + 1; at < rows.length && !ends(at); at++) {
    const row = rows[at]!;
    if (row.gutters.length !== common.length) {
      const alone = common.length === 1 ? aloneIn(common[0]!, row) : undefined;
      if (!alone) break;
      const [width, whole] = alone[0]
        ? [row.right - row.left, common[0]!.left - from]
        : [row.right - row.left, to - common[0]!.right];
      // Below the end of the other column: a short line may be anything, unless it ends a paragraph.
      if (!block.at(-1)!.isAlone && width < whole * ALONE_WIDTH_MIN) break;
      block.push({ parts: alone, isAlone: true });
      continue;
    }
    const narrowed = common.map((gutter, at) => ({
      left: Math.max(gutter.left, row.gutters[at]!.left),
      right: Math.min(gutter.right, row.gutters[at]!.right),
    }));
    if (narrowed.some(({ left, right }) => right <= left)) break;
    common = narrowed;
    [from, to] = [Math.min(from, row.left), Math.max(to, row.right)];
    block.push({ parts: row.parts, isAlone: false });
  }
  return block;
}

/** Which column a line stands in that has no gap; undefined where it reaches over both. */
function aloneIn(gutter: Gutter, { parts, left, right }: Row): (Range | undefined)[] | undefined {
  if (parts.length !== 1 || parts[0]!.to === parts[0]!.from) return undefined;
  if (right <= gutter.right) return [parts[0], undefined];
  return left >= gutter.left ? [undefined, parts[0]] : undefined;
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
