import type { Block } from '../domain/document.ts';
import { tableText } from './table.ts';

const COLUMNS_MAX = 1_000;
const ROWS_LOOKED_AT = 20;
const SEPARATORS = [',', '\t', ';'] as const;

/** The separator of a table in text: the first lines have the same number of it, at least one. Undefined for other text. */
export function csvSeparator(text: string): string | undefined {
  const lines = text
    .slice(0, 64 * 1024)
    .split('\n')
    .slice(0, ROWS_LOOKED_AT + 1);
  // The last one may be cut off.
  const whole = lines.slice(0, Math.max(1, lines.length - 1)).filter((line) => line.trim() !== '');
  if (whole.length < 3) return undefined;
  return SEPARATORS.find((separator) => {
    const counts = whole.map((line) => cellsOf(line, separator).length);
    return counts[0]! > 1 && counts.every((count) => count === counts[0]) && !whole.some(isProse);
  });
}

/** A sentence may hold a comma in each line. */
function isProse(line: string): boolean {
  return /[.!?]$/.test(line.trim()) && line.split(' ').length > 6;
}

/** Rows below their header (RFC 4180; a quoted cell may hold line breaks). */
export function readCsv(text: string, separator: string): { blocks: Block[] } {
  const rows: string[][] = [];
  let at = 0;
  while (at < text.length) {
    const end = rowEnd(text, at);
    rows.push(cellsOf(text.slice(at, end), separator).slice(0, COLUMNS_MAX));
    at = end + 1;
  }
  const table = tableText(rows);
  return { blocks: table === '' ? [] : [{ text: table }] };
}

/** The next line break that no quotes enclose. */
function rowEnd(text: string, from: number): number {
  let quoted = false;
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 34) quoted = !quoted;
    else if (code === 10 && !quoted) return at;
  }
  return text.length;
}

function cellsOf(row: string, separator: string): string[] {
  const cells: string[] = [];
  let cell = '';
  let quoted = false;
  for (let at = 0; at < row.length; at++) {
    const character = row[at]!;
    if (quoted && character === '"' && row[at + 1] === '"') {
      cell += '"';
      at++;
    } else if (character === '"') quoted = !quoted;
    else if (character === separator && !quoted) {
      cells.push(cell.trim());
      cell = '';
    } else cell += character;
  }
  cells.push(cell.trim());
  return cells;
}
