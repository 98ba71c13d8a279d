import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MEASURED, type MeasuredRow } from './measured-rows.ts';
import { rowsIn } from './rig/csv.ts';
import { RECORDS, type Row } from './rig/record.ts';

/** `make measured`: docs/measured.md and the README's table, from the records. */
const ROOT = join(import.meta.dirname, '..');
/** A record of a busier machine counts only where there is none of a quiet one. */
const QUIET_LOAD_MAX = 4;
/** Between them stands the table in the README. */
const MARKS = ['<!-- make measured -->', '<!-- end -->'] as const;

const HEAD = `# Measured

\`make measured\` writes this page from [bench/record](../bench/record). The newest record of a quiet
machine (load at most ${QUIET_LOAD_MAX}) counts. Two cores, over HTTP unless a row says otherwise, embedded models.
In brackets: who did the same in the same run; *assembled* is Express with @x402/express,
onnxruntime-node, sqlite-vec and FTS5. Aims, history and figures without a record:
[NOTES.md](../bench/record/NOTES.md). How to run a bench: [CONTRIBUTING.md](../CONTRIBUTING.md#measure).
`;

/** All rows of the records, the oldest first. */
export function recordedRows(folder = RECORDS): Row[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.csv'));
  return files.sort().flatMap((name) => rowsIn<Row>(readFileSync(join(folder, name), 'utf8')));
}

interface Shown {
  readonly row: MeasuredRow;
  readonly figure: string;
  readonly origin: Row;
}

/** @throws where no record has a figure of a row */
function shown(row: MeasuredRow, rows: readonly Row[]): Shown {
  const { bench, figures, peers = {}, command = '' } = row;
  const metrics = Object.values(figures);
  const candidates = rows.filter(
    (one) => one.bench === bench && one.metric === metrics[0] && String(one.command).includes(command),
  );
  const origin = candidates.findLast(({ load }) => Number(load) <= QUIET_LOAD_MAX) ?? candidates.at(-1);
  if (!origin) throw new Error(`no record has "${metrics[0]}" of ${bench}, which docs/measured.md shows`);
  const sameRun = rows.filter(
    (one) =>
      one.bench === bench &&
      one.date === origin.date &&
      one.machine === origin.machine &&
      one.commit === origin.commit &&
      one.simd === origin.simd,
  );
  const find = (metric: string) => {
    const found = sameRun.findLast((one) => one.metric === metric);
    if (!found)
      throw new Error(
        `the record of ${origin.date} has no "${metric}" of ${bench}, which docs/measured.md shows`,
      );
    return found;
  };
  const said = Object.entries(figures).map(([name, metric]) => {
    const found = find(metric);
    const beside = found.peer === '' ? '' : ` (${found.peer} ${shortOf(found.peer_value)})`;
    return `${name === '' ? '' : `${name} `}${shortOf(found.value, found.unit)}${beside}`;
  });
  const others = Object.entries(peers).map(([name, metric]) => `${name} ${shortOf(find(metric).value)}`);
  return { row, origin, figure: `${said.join(', ')}${others.length > 0 ? ` (${others.join(', ')})` : ''}` };
}

function shortOf(value: Row['value'], unit: Row['unit'] = ''): string {
  const number = Number(value);
  const digits = Number.isInteger(number)
    ? number.toLocaleString('en')
    : String(Number(number.toPrecision(3)));
  const figure = digits.replace(/^0\./, '.');
  return unit === '' ? figure : `${figure} ${unit}`;
}

const machineOf = ({ machine, simd }: Row) =>
  `${String(machine)
    .replace(/\((?:R|TM)\)| Processor| CPU/g, '')
    .trim()}, ${simd}`;

/** The page, and the README's table. */
export function measuredTexts(rows: readonly Row[]): { readonly page: string; readonly table: string } {
  const all = MEASURED.map((row) => shown(row, rows));
  const lines = all.map(
    ({ row: { what }, figure, origin }) =>
      `| ${what} | ${figure} | ${machineOf(origin)} | ${origin.date}, ${origin.commit} | \`${origin.command}\` |`,
  );
  const page = [
    HEAD,
    '| what | figure (peer) | machine | date, commit | command |',
    '|---|---|---|---|---|',
    ...lines,
    '',
  ].join('\n');
  const chosen = all
    .filter(({ row }) => row.readme)
    .map(({ row: { what }, figure, origin }) => `| ${what} | ${figure} | ${machineOf(origin)} |`);
  return {
    page,
    table: ['| what | figure (peer in the same run) | machine |', '|---|---|---|', ...chosen].join('\n'),
  };
}

/** The README with another table between its marks. */
export function withTable(readme: string, table: string): string {
  const [before, rest = ''] = readme.split(MARKS[0]);
  const [, after] = rest.split(MARKS[1]);
  if (after === undefined) throw new Error(`README.md has no ${MARKS.join(' … ')}`);
  return `${before}${MARKS[0]}\n${table}\n${MARKS[1]}${after}`;
}

if (process.env.WRITE === '1') {
  const { page, table } = measuredTexts(recordedRows());
  const readme = join(ROOT, 'README.md');
  writeFileSync(join(ROOT, 'docs/measured.md'), page);
  writeFileSync(readme, withTable(readFileSync(readme, 'utf8'), table));
  console.log('docs/measured.md and README.md are written');
}
