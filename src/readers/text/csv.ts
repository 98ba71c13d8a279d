import { tableText, YEAR } from './table.ts';
import { type TextContents, textReader } from './text-format.ts';

export const csv = textReader({
  looksLike: ({ text }) => csvSeparator(withoutMark(text)) !== undefined,
  read: (text) => readCsv(withoutMark(text), csvSeparator(withoutMark(text)) ?? ','),
});

const COLUMNS_MAX = 1_000;
/** What is looked at to recognise a table; all of it is read. */
const ROWS_LOOKED_AT = 20;
/** Lines above the names, as banks have them. */
const PREAMBLE_MAX = 15;
/** Of the rows below names, those with as many cells, one more or one less. */
const NEAR_SHARE_MIN = 0.8;
const PROBE_LENGTH = 64 * 1024;
const SEPARATORS = [',', '\t', ';', '|'] as const;
/** A spreadsheet program's own first line. */
const NAMED_SEPARATOR = /^sep=([,;\t|])[ \t]*\n/i;

/**
 * The separator of a table: each of the first rows has the same number of it, at least one; or rows of names and below them rows of
 * about as many cells, which lines of preamble may stand above. Undefined for other text.
 */
export function csvSeparator(text: string): string | undefined {
  const named = NAMED_SEPARATOR.exec(text)?.[1];
  const probe = text.slice(0, PROBE_LENGTH);
  return (
    named ??
    SEPARATORS.find((separator) => separates(probe, separator)) ??
    SEPARATORS.find((separator) => hasNamedRows(probe, separator))
  );
}

interface Row {
  readonly cells: readonly string[];
  readonly line: string;
}

/** The first rows. The last one may be cut off. */
function firstRows(probe: string, separator: string, most: number): Row[] {
  const rows: Row[] = [];
  let at = 0;
  while (at < probe.length && rows.length <= most) {
    const { cells, end } = readRow(probe, at, separator);
    const line = probe.slice(at, end);
    if (line.trim() !== '') rows.push({ cells, line });
    at = end + 1;
  }
  if (rows.length > 1 && at >= probe.length && probe.length === PROBE_LENGTH) rows.pop();
  return rows;
}

function separates(probe: string, separator: string): boolean {
  const rows = firstRows(probe, separator, ROWS_LOOKED_AT);
  const [first, ...others] = rows;
  if (!first || others.length === 0 || first.cells.length < 2) return false;
  if (rows.some(({ cells }) => cells.length !== first.cells.length)) return false;
  // Statements of a program end so.
  if (rows.every(({ cells }) => cells.length === 2 && cells[1] === '')) return false;
  // A Markdown table has bars at both ends, and a rule of hyphens.
  if (separator === '|' && others.some(({ line }) => /^[|:\s-]+$/.test(line))) return false;
  if (!rows.some(({ line }) => isProse(line)) && rows.length > 2) return true;
  // Lines of prose have commas, too, with a space behind: what has few rows, or sentences, shows that its first row is names.
  return first.cells.every(isColumnName) && !rows.some(({ line }) => /^[^"]*, /.test(line));
}

/** Rows of as many cells as there are names show a table, whatever stands above; a few may have more or less. */
function hasNamedRows(probe: string, separator: string): boolean {
  const rows = firstRows(probe, separator, ROWS_LOOKED_AT + PREAMBLE_MAX);
  if (rows.some(({ line }) => isProse(line) || /^[^"]*, /.test(line) || /[{}]/.test(line))) return false;
  return rows.slice(0, PREAMBLE_MAX + 1).some(({ cells: names }, at) => {
    const below = rows.slice(at + 1);
    const above = rows.slice(0, at);
    const filled = names.filter((cell) => cell !== '').length;
    if (
      filled < 3 ||
      filled !== names.length ||
      !names.every((name) => isColumnName(name) || YEAR.test(name)) ||
      below.length < 2
    )
      return false;
    if (new Set(names).size !== names.length || above.some(({ cells }) => cells.length >= names.length))
      return false;
    const near = below.filter(({ cells }) => Math.abs(cells.length - names.length) <= 1).length;
    return near >= below.length * NEAR_SHARE_MIN && below.every(({ cells }) => cells.length > 1);
  });
}

function withoutMark(text: string): string {
  return text.replace(/^\ufeff?\s*/, '');
}

/** Prose, too, may have a comma in each line. */
function isProse(line: string): boolean {
  return /[.!?]$/.test(line.trim()) && line.split(' ').length > 6;
}

/** A word or two, with no end of a sentence. */
function isColumnName(cell: string): boolean {
  return /\p{L}/u.test(cell) && cell.length <= 40 && cell.split(' ').length <= 3 && !/[.!?]$/.test(cell);
}

/** Rows below their header (RFC 4180; a quoted cell may contain line breaks). */
export function readCsv(text: string, separator: string): TextContents {
  const rows: string[][] = [];
  let cut = 0;
  for (let at = NAMED_SEPARATOR.exec(text)?.[0].length ?? 0; at < text.length; ) {
    const { cells, end } = readRow(text, at, separator);
    cut += Math.max(0, cells.length - COLUMNS_MAX);
    rows.push(cells.slice(0, COLUMNS_MAX));
    at = end + 1;
  }
  const table = tableText(rows);
  return {
    blocks: table === '' ? [] : [{ text: table }],
    ...(cut > 0 && { notRead: [{ what: 'text', count: cut, why: 'limit' }] }),
  };
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
