/** Rows above the names of the columns: a title, a date. */
const TITLE_ROWS_MAX = 5;

/**
 * A table as text, one line a row. If its first row names the columns, every other row carries the names: a row that is found
 * alone says what its values are. Rows of one cell above the names are its title.
 */
export function tableText(rows: readonly (readonly string[])[]): string {
  const filled = rows
    .map((row) => row.map((cell) => cell.replace(/\s+/g, ' ').trim()))
    .filter((row) => row.some((cell) => cell !== ''));
  if (filled.length === 0) return '';
  const width = filled.reduce((most, row) => Math.max(most, row.filter((cell) => cell !== '').length), 0);
  const titles = filled.findIndex((row) => row.filter((cell) => cell !== '').length > 1);
  const at = width > 1 && titles > 0 && titles <= TITLE_ROWS_MAX ? titles : 0;
  // A table may begin in any column.
  const from = filled.slice(at).reduce(
    (least, row) =>
      Math.min(
        least,
        row.findIndex((cell) => cell !== ''),
      ),
    Number.POSITIVE_INFINITY,
  );
  const [first = [], ...others] = filled.slice(at).map((row) => row.slice(from));
  const isHeader =
    others.length > 0 && first.length > 1 && first.every(isName) && new Set(first).size === first.length;
  if (!isHeader) return filled.map((row) => line(row.filter((cell) => cell !== ''))).join('\n');
  const above = filled.slice(0, at).map((row) => line(row.filter((cell) => cell !== '')));
  const named = others.map((row) =>
    line(row.flatMap((cell, at) => (cell === '' ? [] : [first[at] ? `${first[at]}: ${cell}` : cell]))),
  );
  return [...above, line(first), ...named].join('\n');
}

function isName(cell: string): boolean {
  return cell.length > 0 && cell.length <= 80 && /\p{L}/u.test(cell);
}

/** The bar at the start keeps passages from joining the row to the one before. */
function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')}`;
}
