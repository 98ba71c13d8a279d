import { padded, widthOf } from '../wording/text.ts';

/** Rows with aligned columns; all rows have as many. */
export function aligned(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => widthOf(row[column]!))));
  return rows
    .map((row) =>
      row
        .map((cell, column) => padded(cell, widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
