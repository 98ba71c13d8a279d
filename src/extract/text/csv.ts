import type { Block } from '../../domain/document.ts';
import { tableText } from './table.ts';
import { textReader } from './text-format.ts';

export const csv = textReader({
  looksLike: ({ start }) => csvSeparator(start) !== undefined,
  read: (text) => readCsv(text, csvSeparator(text) ?? ','),
});

const COLUMNS_MAX = 1_000;
const ROWS_LOOKED_AT = 20;
const SEPARATORS = [',', '\t', ';'] as const;

/** The separator of a table: each of the first lines has the same number of it, at least one. Undefined for other text. */
export function csvSeparator(text: string): string | undefined {
  const lines = text
    .slice(0, 64 * 1024)
    .split('\n')
    .slice(0, ROWS_LOOKED_AT + 1);
  // The last line may be cut off.
  const whole = lines.slice(0, Math.max(1, lines.length - 1)).filter((line) => line.trim() !== '');
  if (whole.length < 3) return undefined;
  return SEPARATORS.find((separator) => {
    const counts = whole.map((line) => readRow(line, 0, separator).cells.length);
    return counts[0]! > 1 && counts.every((count) => count === counts[0]) && !whole.some(isProse);
  });
}

/** Prose, too, may have a comma in each line. */
function isProse(line: string): boolean {
  return /[.!?]$/.test(line.trim()) && line.split(' ').length > 6;
}

/** Rows below their header (RFC 4180; a quoted cell may contain line breaks). */
export function readCsv(text: string, separator: string): { blocks: Block[] } {
  const rows: string[][] = [];
  for (let at = 0; at < text.length; ) {
    const { cells, end } = readRow(text, at, separator);
    rows.push(cells.slice(0, COLUMNS_MAX));
    at = end + 1;
  }
  const table = tableText(rows);
  return { blocks: table === '' ? [] : [{ text: table }] };
}

/** The cells from `from` on, up to the line break that ends their row. */
function readRow(text: string, from: number, separator: string): { cells: string[]; end: number } {
  const cells: string[] = [];
  for (let at = from; ; ) {
    const quoted = text[at] === '"' ? quotedCell(text, at, separator) : undefined;
    const end = quoted?.end ?? cellEnd(text, at, separator);
    cells.push((quoted?.cell ?? text.slice(at, end)).trim());
    if (text[end] !== separator) return { cells, end };
    at = end + 1;
  }
}

function cellEnd(text: string, from: number, separator: string): number {
  let at = from;
  while (at < text.length && text[at] !== separator && text[at] !== '\n') at++;
  return at;
}

/**
 * A cell with a quote at its start and its end; two quotes inside are one. Undefined for other cells, where a quote is a
 * character like any other, as in 7" pipes.
 */
function quotedCell(
  text: string,
  from: number,
  separator: string,
): { cell: string; end: number } | undefined {
  let close = text.indexOf('"', from + 1);
  while (close >= 0 && text[close + 1] === '"') close = text.indexOf('"', close + 2);
  if (close < 0) return undefined;
  let end = close + 1;
  while (text[end] === ' ') end++;
  const isWhole = end === text.length || text[end] === '\n' || text[end] === separator;
  return isWhole ? { cell: text.slice(from + 1, close).replaceAll('""', '"'), end } : undefined;
}
