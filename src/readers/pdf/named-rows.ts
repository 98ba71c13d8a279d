import { tableLine } from '../text/table.ts';
import type { Row } from './columns.ts';

/** Fewer columns may be anything. */
const COLUMNS_MIN = 3;
/** Rows below the names, with at least two cells. */
const ROWS_MIN = 2;
const NAME_LENGTH_MAX = 40;
/** Of the rows below names, those that have a number or a sign of money, in tables that people print. */
const FIGURES_SHARE_MIN = 0.5;

interface Column {
  readonly name: string;
  readonly left: number;
  readonly right: number;
}

/**
 * Rows of tables on a page, by their places among its lines: below a line of names each row carries them, by where its cells stand. A
 * bank's statement says so what was paid in and what was paid out.
 */
export function namedRows(text: string, rows: readonly Row[]): ReadonlyMap<number, string> {
  const named = new Map<number, string>();
  for (let at = 0; at < rows.length; at++) {
    const columns = columnsOf(text, rows[at]!);
    if (!columns) continue;
    const found: { cells: (readonly [Column, string])[]; isWhole: boolean }[] = [];
    for (const row of rows.slice(at + 1)) {
      const cells = cellsOf(text, row, columns);
      if (!cells) break;
      found.push({ cells, isWhole: cells.length > 1 });
    }
    // What stands alone below the last row is no part of the table.
    while (found.length > 0 && !found.at(-1)!.isWhole) found.pop();
    const whole = found.filter(({ isWhole }) => isWhole);
    const figures = whole.filter(({ cells }) => cells.some(([, cell]) => /\d/.test(cell))).length;
    if (whole.length < ROWS_MIN || figures < whole.length * FIGURES_SHARE_MIN) continue;
    named.set(at, tableLine(columns.map(({ name }) => name)));
    for (const [index, { cells }] of found.entries())
      named.set(at + 1 + index, tableLine(cells.map(([{ name }, cell]) => `${name}: ${cell}`)));
    at += found.length;
  }
  return named;
}

/** The columns that a line names; undefined for another line. */
function columnsOf(text: string, row: Row): Column[] | undefined {
  if (row.parts.length < COLUMNS_MIN) return undefined;
  const columns = placed(text, row).map(([cell, left, right]) => ({ name: cell, left, right }));
  const areNames =
    columns.every(
      ({ name }) => name.length <= NAME_LENGTH_MAX && /^\p{L}/u.test(name) && !/\d{3}/.test(name),
    ) && new Set(columns.map(({ name }) => name)).size === columns.length;
  return areNames ? columns : undefined;
}

/** The cells of a row, each below a name; undefined where they stand in another way. */
function cellsOf(
  text: string,
  row: Row,
  columns: readonly Column[],
): (readonly [Column, string])[] | undefined {
  const cells = placed(text, row).map(
    ([cell, left, right]) => [columnAt(columns, left, right), cell] as const,
  );
  const taken = cells.flatMap(([column]) => column ?? []);
  if (taken.length < cells.length || new Set(taken).size < taken.length || cells.length === 0)
    return undefined;
  // A line that begins where the table does, without another cell, is text below it.
  if (cells.length === 1 && taken[0] === columns[0]) return undefined;
  return cells as (readonly [Column, string])[];
}

/** The column that a cell overlaps most; otherwise the nearest one whose neighbours it does not reach. */
function columnAt(columns: readonly Column[], left: number, right: number): Column | undefined {
  const overlaps = columns.map((column) => Math.min(right, column.right) - Math.max(left, column.left));
  const best = overlaps.indexOf(Math.max(...overlaps));
  const next = columns[best + 1];
  // A long cell may reach below the next name, unless it begins there.
  if (overlaps[best]! > 0) {
    const first = overlaps.findIndex((overlap) => overlap > 0);
    return columns[
      left < columns[first]!.right ? (right <= columns[first]!.right || first === best ? best : first) : best
    ];
  }
  return next && right > next.left ? undefined : columns[best];
}

function placed(text: string, { parts, gutters, left, right }: Row): (readonly [string, number, number])[] {
  return parts.flatMap(({ from, to }, at) => {
    const cell = text.slice(from, to).trim();
    return cell === '' ? [] : [[cell, gutters[at - 1]?.right ?? left, gutters[at]?.left ?? right] as const];
  });
}
