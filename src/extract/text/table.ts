/**
 * A table as text, one line a row. If the first row names the columns, every other row carries the names: a row that is found
 * alone says what its values are.
 */
export function tableText(rows: readonly (readonly string[])[]): string {
  const filled = rows
    .map((row) => row.map((cell) => cell.replace(/\s+/g, ' ').trim()))
    .filter((row) => row.some((cell) => cell !== ''));
  const [first, ...others] = filled;
  if (!first) return '';
  const isHeader =
    others.length > 0 && first.length > 1 && first.every(isName) && new Set(first).size === first.length;
  if (!isHeader) return filled.map((row) => line(row.filter((cell) => cell !== ''))).join('\n');
  const named = others.map((row) =>
    line(row.flatMap((cell, at) => (cell === '' ? [] : [first[at] ? `${first[at]}: ${cell}` : cell]))),
  );
  return [line(first), ...named].join('\n');
}

function isName(cell: string): boolean {
  return cell.length > 0 && cell.length <= 80 && /\p{L}/u.test(cell);
}

/** The bar at the start keeps passages from joining the row to the one before. */
function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')}`;
}
