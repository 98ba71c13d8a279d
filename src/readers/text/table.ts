/** A cell that may reach over several columns and rows. */
export interface Cell {
  readonly text: string;
  readonly across?: number;
  readonly down?: number;
}

/** Rows above the names of the columns: a title, a date, whose account it is. */
const TITLE_ROWS_MAX = 15;
/** Rows of names: "2024" above "Lanterns" and "Ropes". */
const NAME_ROWS_MAX = 3;
/** Only short cells are repeated where they reach over others: a long text would multiply. */
export const REPEATED_LENGTH_MAX = 200;
const SPAN_MAX = 1_000;
/** Cells that are made by repeating others, for a table. */
export const REPEATED_MAX = 100_000;

/** The cells of each row in their columns: one that reaches over others stands in the place of each. */
export function gridOf(rows: readonly (readonly Cell[])[]): string[][] {
  const grid: string[][] = rows.map(() => []);
  const names = rowsOfNames(rows.map((row) => row.map(({ text }) => text)));
  let left = REPEATED_MAX;
  for (const [at, row] of rows.entries()) {
    let column = 0;
    for (const { text, across = 1, down = 1 } of row) {
      while (grid[at]![column] !== undefined) column++;
      const isRepeated = text !== '' && text.length <= REPEATED_LENGTH_MAX;
      // Alone in its row it is the title of what is below.
      const [width, height] = [
        row.length === 1 ? 1 : Math.min(across, SPAN_MAX),
        Math.min(down, SPAN_MAX, rows.length - at),
      ];
      for (let below = 0; below < height; below++)
        for (let beside = 0; beside < width; beside++) {
          const isFirst = below === 0 && beside === 0;
          if (!isFirst && left-- <= 0) continue;
          // A name holds for each column below it; a sum that reaches over cells is in none of them.
          const isShown = isFirst || (isRepeated && (beside === 0 || at < names));
          grid[at + below]![column + beside] = isShown ? text : '';
        }
      column += width;
    }
  }
  return grid.map((row) => Array.from(row, (cell) => cell ?? ''));
}

/** How many rows at the top may hold names: those before the first with a number that is no year. */
export function rowsOfNames(rows: readonly (readonly string[])[]): number {
  const isFigure = (cell: string): boolean =>
    /^[^\p{L}\d]{0,5}\d[\d.,'\s]*[^\p{L}\d]{0,5}$/u.test(cell) && !YEAR.test(cell);
  const first = rows.slice(0, TITLE_ROWS_MAX + NAME_ROWS_MAX).findIndex((row) => row.some(isFigure));
  return first < 0 ? NAME_ROWS_MAX : first;
}

export const YEAR = /^(?:19|20)\d\d$/;

interface TableOptions {
  /** Rows at the top that the file says are names of columns. */
  readonly headers?: number;
  /** Names that reach over several columns, by row and column: the row below goes on with the names. */
  readonly reaches?: (row: number) => boolean;
}

/**
 * A table as text, one line a row. If its first rows name the columns, every other row carries the names: a row that is found
 * alone says what its values are. Rows above the names, with fewer cells, are its title.
 */
export function tableText(rows: readonly (readonly string[])[], options: TableOptions = {}): string {
  const all = rows.map((row) => row.map((cell) => cell.replace(/\s+/g, ' ').trim()));
  const at = all.flatMap((row, index) => (row.some((cell) => cell !== '') ? [index] : []));
  const filled = at.map((index) => all[index]!);
  if (filled.length === 0) return '';
  // A table may begin in any column.
  const found = headerOf(filled, at, options);
  if (!found) return filled.map((row) => tableLine(row)).join('\n');
  const { from, to, names } = found;
  const named = filled
    .slice(to)
    .map((row) =>
      tableLine(
        row.map((cell, column) => (cell === '' || !names[column] ? cell : `${names[column]}: ${cell}`)),
      ),
    );
  return [...filled.slice(0, from).map(tableLine), tableLine(names), ...named].join('\n');
}

interface Header {
  /** Its rows, and the name of each column. */
  readonly from: number;
  readonly to: number;
  readonly names: readonly string[];
}

function headerOf(
  rows: readonly (readonly string[])[],
  places: readonly number[],
  { headers = 0, reaches }: TableOptions,
): Header | undefined {
  const widths = rows.map((row) => row.filter((cell) => cell !== '').length);
  let widest = 0;
  for (let from = 0; from < Math.min(rows.length - 1, TITLE_ROWS_MAX + 1); from++) {
    const width = widths[from]!;
    const row = rows[from]!;
    const isWide = width > 1 && width >= widest && width + 1 >= usual(widths.slice(from + 1));
    widest = Math.max(widest, width);
    if (!isWide) continue;
    const isStated = from < headers;
    let to = isStated ? Math.min(headers, rows.length - 1) : from + 1;
    // A name that stands in two columns side by side reaches over both: what they are is in the next row.
    while (to < rows.length - 1 && to - from < NAME_ROWS_MAX && !isStated) {
      const above = rows[to - 1]!;
      const isDivided = reaches
        ? reaches(places[to - 1]!)
        : above.some((cell, column) => cell !== '' && cell === above[column - 1]);
      if (!isDivided || !rows[to]!.some(isName)) break;
      to++;
    }
    const names = namesOf(rows.slice(from, to));
    if (areNames(names, row, rows[to]!, isStated || to - from > 1)) return { from, to, names };
  }
  return undefined;
}

/** The middle one. */
function usual(widths: readonly number[]): number {
  const sorted = widths.slice(0, 50).sort((one, other) => one - other);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
}

/** The names above each column, one after the other. */
function namesOf(rows: readonly (readonly string[])[]): string[] {
  const width = Math.max(...rows.map((row) => row.length));
  return Array.from({ length: width }, (_, column) => {
    const steps = rows.map((row) => row[column] ?? '').filter((step) => step !== '');
    return steps.filter((step, at) => step !== steps[at - 1]).join(', ');
  });
}

/**
 * Whether these name columns: each other, short, with letters. Above the names of rows there may be none, and years may be names
 * beside others.
 */
function areNames(
  names: readonly string[],
  row: readonly string[],
  below: readonly string[],
  isStated: boolean,
): boolean {
  const first = names.findIndex((name, column) => name !== '' || (below[column] ?? '') !== '');
  const given = names.slice(names[first] === '' ? first + 1 : first);
  const last = given.findLastIndex((name) => name !== '');
  const all = given.slice(0, last + 1);
  if (all.length < (first < 0 ? 2 : 1) || new Set(all).size !== all.length) return false;
  if (isStated) return all.some(isName) || row.length > 0;
  const letters = all.filter(isName).length;
  const years = all.filter((name) => YEAR.test(name)).length;
  const isBelow = years === 0 || !below.some((cell) => YEAR.test(cell));
  const isNamed = names[first] !== '' ? all.length > 1 : all.length > 1 && isName(below[first] ?? '');
  return isNamed && letters > 0 && letters + years === all.length && isBelow;
}

function isName(cell: string): boolean {
  return cell.length > 0 && cell.length <= 80 && /\p{L}/u.test(cell);
}

/** The bar at the start keeps passages from joining the row to the one before. */
export function tableLine(cells: readonly string[]): string {
  return `| ${cells.filter((cell) => cell !== '').join(' | ')}`;
}
