/** Records as CSV (RFC 4180): the first line names the columns, an empty cell is an absent value. */

export type Cell = string | number;

const quoted = (cell: Cell) =>
  /[",\n]/.test(String(cell)) ? `"${String(cell).replaceAll('"', '""')}"` : String(cell);

export function csvOf<C extends string>(
  columns: readonly C[],
  rows: readonly Readonly<Record<C, Cell>>[],
): string {
  const lines = rows.map((row) => columns.map((column) => quoted(row[column])).join(','));
  return `${[columns.join(','), ...lines].join('\n')}\n`;
}

/** Columns whose cells are numbers: a commit may look like one. */
const NUMBERS = new Set(['cores', 'load', 'value', 'low', 'high', 'peer_value']);

/** Rows by the names of the first line. @throws when a line has another number of cells */
export function rowsIn<R = Record<string, Cell>>(text: string): R[] {
  const [columns = [], ...rows] = text
    .split('\n')
    .filter((line) => line !== '')
    .map(cellsOf);
  return rows.map((cells, at) => {
    if (cells.length !== columns.length)
      throw new Error(`line ${at + 2} has ${cells.length} cells, not ${columns.length}`);
    return Object.fromEntries(
      cells.map((cell, index) => [columns[index]!, typed(columns[index]!, cell)]),
    ) as R;
  });
}

const cellsOf = (line: string) =>
  Array.from(line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g), ([, quoted, plain]) =>
    quoted === undefined ? plain! : quoted.replaceAll('""', '"'),
  );

const typed = (column: string, cell: string): Cell =>
  cell !== '' && NUMBERS.has(column) ? Number(cell) : cell;
