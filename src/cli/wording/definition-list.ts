import { padded, widthOf, wrap } from './text.ts';

const COLUMNS_MAX = 100;
/** Where there is no terminal. */
const COLUMNS = 80;
const GAP = 2;
/** Share of a line that names may take. A longer name has its meaning below it. */
const NAMES_SHARE = 0.6;
/** On lines narrower than `COLUMNS`, meanings would be too narrow beside. */
const NAMES_SHARE_NARROW = 0.5;

/** Columns of a help text on a terminal of `columns`; undefined: no terminal. */
export function helpColumns(columns: number | undefined): number {
  return Math.min(columns ?? COLUMNS, COLUMNS_MAX);
}

/** Lines of a help text: names on the left, each with its meaning beside it or, without room there, below it. */
export function definitionList(
  rows: readonly (readonly [name: string, meaning: string])[],
  columns: number | undefined,
): string {
  const width = helpColumns(columns);
  const room = Math.floor(width * (width < COLUMNS ? NAMES_SHARE_NARROW : NAMES_SHARE));
  const sizes = rows.map(([name]) => widthOf(name) + 2 * GAP);
  const indent = Math.max(3 * GAP, ...sizes.filter((size) => size <= room));
  return rows
    .flatMap(([name, meaning], row) => {
      const lines = wrap(meaning, width - indent).map((line) => `${' '.repeat(indent)}${line}`.trimEnd());
      const label = `${' '.repeat(GAP)}${name}`;
      if (sizes[row]! > indent) return [label, ...lines.filter((line) => line !== '')];
      return [`${padded(label, indent)}${lines[0]!.trimStart()}`.trimEnd(), ...lines.slice(1)];
    })
    .join('\n');
}
