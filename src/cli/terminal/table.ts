import type { Hit } from '../../client/index.ts';

/** Hits as rows of a table. */
export function hitRows(hits: readonly Hit[]): string[][] {
  return hits.map(({ confidence, family, item, locator, snippet }, index) => [
    String(index + 1),
    confidence.toFixed(2),
    place(locator),
    family,
    item.name,
    (snippet ?? '').replace(/\s+/g, ' ').trim(),
  ]);
}

export const HIT_HEAD = ['', 'conf', 'where', 'family', 'item', 'snippet'];

/** Page or time of a hit; empty without either. */
export function place({ page, time_s }: Hit['locator']): string {
  if (page !== undefined) return `p. ${page}`;
  if (time_s === undefined) return '';
  const [minutes, seconds] = [Math.floor(time_s / 60), Math.floor(time_s % 60)];
  return `${minutes}:${String(seconds).padStart(2, '0')}`;
}

const GAP = '  ';
const COLUMN_MAX = 32;
const LAST_COLUMN_MIN = 16;

/** An aligned table; the last column is cut at the terminal's edge. Control characters are removed. */
export function formatTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  columns = Infinity,
): string {
  const clean = [head, ...rows].map((row) => row.map((cell) => cell.replace(/[\p{Cc}\p{Cf}]/gu, '')));
  const last = head.length - 1;
  const widths = head.map((_, column) =>
    Math.min(COLUMN_MAX, Math.max(...clean.map((row) => [...row[column]!].length))),
  );
  const before = widths.slice(0, last).reduce((sum, width) => sum + width + GAP.length, 0);
  widths[last] = Math.max(LAST_COLUMN_MIN, columns - before);
  return clean
    .map((row) =>
      row
        .map((cell, column) => fit(cell, widths[column]!, column === last))
        .join(GAP)
        .trimEnd(),
    )
    .join('\n');
}

function fit(cell: string, width: number, isLast: boolean): string {
  const characters = [...cell];
  if (characters.length > width) return `${characters.slice(0, width - 1).join('')}…`;
  return isLast ? cell : cell + ' '.repeat(width - characters.length);
}
