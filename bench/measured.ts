import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MEASURED, type MeasuredRow } from './measured-rows.ts';
import { rowsIn } from './rig/csv.ts';
import { RECORDS, type Row } from './rig/record.ts';

/** `make measured`: docs/measured.md and the README's table, from the records; rows without a usable record are left out and named. */
const ROOT = join(import.meta.dirname, '..');
/** A record of a busier machine counts only where there is none of a quiet one. */
const QUIET_LOAD_MAX = 4;
/** The page is about machines of this size; records of larger ones stand in NOTES.md. */
const CORES = 2;
/** Age of the commit of a figure in the README, in commits. */
const README_AGE_MAX = 100;
/** The README's table stands between these. */
const MARKS = ['<!-- make measured -->', '<!-- end -->'] as const;

const HEAD = `# Measured

\`make measured\` writes this page from [bench/record](../bench/record): the newest record of a quiet
machine (load at most ${QUIET_LOAD_MAX}) whose commit is in this repository. It names the benches to run for rows
that it leaves out. The README shows figures of the last ${README_AGE_MAX} commits. Two cores, over HTTP unless a
row says otherwise, embedded models. In brackets: who did the same in the same run; *assembled* is
Express with @x402/express, onnxruntime-node, sqlite-vec and FTS5. Aims, history and figures without a
record: [NOTES.md](../bench/record/NOTES.md). How to run a bench:
[CONTRIBUTING.md](../CONTRIBUTING.md#measure).
`;

/** All rows of the records, the oldest first. */
function recordedRows(): Row[] {
  const files = readdirSync(RECORDS).filter((name) => name.endsWith('.csv'));
  return files.sort().flatMap((name) => rowsIn<Row>(readFileSync(join(RECORDS, name), 'utf8')));
}

/** How many commits were made since this one; undefined: it is not in the repository. */
type AgeOf = (commit: string) => number | undefined;

/** @throws where git cannot tell: without it, outside of a checkout, and in a shallow clone */
function agesByGit(): AgeOf {
  const git = (...words: string[]) =>
    execFileSync('git', words, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  let isShallow: string;
  try {
    isShallow = git('rev-parse', '--is-shallow-repository');
  } catch {
    throw new Error('git is not installed, or this is no checkout of the repository');
  }
  if (isShallow === 'true') throw new Error('this clone is shallow: git fetch --unshallow');
  const known = new Map<string, number | undefined>();
  return (commit) => {
    if (!known.has(commit)) {
      try {
        git('cat-file', '-e', `${commit}^{commit}`);
        known.set(commit, Number(git('rev-list', '--count', `${commit}..HEAD`)));
      } catch {
        known.set(commit, undefined);
      }
    }
    return known.get(commit);
  };
}

interface Shown {
  readonly row: MeasuredRow;
  readonly figure: string;
  readonly origin: Row;
}

/** Records that could stand in a row, the oldest first. */
function originsOf({ bench, figures, command = '' }: MeasuredRow, rows: readonly Row[]): Row[] {
  const [first] = Object.values(figures);
  return rows.filter(
    (row) =>
      row.bench === bench &&
      row.metric === first &&
      String(row.command).includes(command) &&
      row.cores === CORES,
  );
}

/** A row with the figures of one run. Undefined: the run lacks one of them. */
function shown(row: MeasuredRow, origin: Row, rows: readonly Row[]): Shown | undefined {
  const sameRun = rows.filter((other) =>
    (['bench', 'date', 'machine', 'commit', 'simd'] as const).every((key) => other[key] === origin[key]),
  );
  const find = (metric: string) => sameRun.findLast((other) => other.metric === metric);
  const figures = Object.entries(row.figures).map(([name, metric]) => [name, find(metric)] as const);
  const peers = Object.entries(row.peers ?? {}).map(([name, metric]) => [name, find(metric)] as const);
  if ([...figures, ...peers].some(([, found]) => found === undefined)) return undefined;
  const texts = figures.map(([name, found]) => {
    const { value, unit, peer, peer_value } = found!;
    const beside = peer === '' ? '' : ` (${peer} ${shortOf(peer_value)})`;
    return `${name === '' ? '' : `${name} `}${shortOf(value, unit)}${beside}`;
  });
  const others = peers.map(([name, found]) => `${name} ${shortOf(found!.value)}`);
  return { row, origin, figure: `${texts.join(', ')}${others.length > 0 ? ` (${others.join(', ')})` : ''}` };
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

const pageLine = ({ row: { what }, figure, origin }: Shown) =>
  `| ${what} | ${figure} | ${machineOf(origin)} | ${origin.date}, ${origin.commit} | \`${origin.command}\` |`;
const readmeLine = ({ row: { what }, figure, origin }: Shown) =>
  `| ${what} | ${figure} | ${machineOf(origin)} |`;

interface MeasuredTexts {
  readonly page: string;
  /** The README's table. */
  readonly table: string;
  /** Rows that were left out, and the command that would measure each. */
  readonly missing: readonly string[];
}

function measuredTexts(rows: readonly Row[], ageOf: AgeOf): MeasuredTexts {
  const [page, table, missing]: [string[], string[], string[]] = [[], [], []];
  for (const row of MEASURED) {
    const usable = originsOf(row, rows).flatMap((origin) => {
      const line = ageOf(String(origin.commit)) === undefined ? undefined : shown(row, origin, rows);
      return line ?? [];
    });
    const newest = usable.findLast(({ origin }) => Number(origin.load) <= QUIET_LOAD_MAX) ?? usable.at(-1);
    const run = row.run ?? `make bench NAME=${row.bench}`;
    if (newest) page.push(pageLine(newest));
    else missing.push(`${run}: no record of a commit in this repository has "${row.what}"`);
    if (!newest || !row.readme) continue;
    const age = ageOf(String(newest.origin.commit))!;
    if (age <= README_AGE_MAX) table.push(readmeLine(newest));
    else missing.push(`${run}: "${row.what}" is ${age} commits old, too old for the README`);
  }
  const pageTable = ['| what | figure (peer) | machine | date, commit | command |', '|---|---|---|---|---|'];
  const readmeTable = ['| what | figure (peer in the same run) | machine |', '|---|---|---|'];
  return {
    page: [HEAD, ...pageTable, ...page, ''].join('\n'),
    table: [...readmeTable, ...table].join('\n'),
    missing,
  };
}

/** The README with another table between its marks. */
function withTable(readme: string, table: string): string {
  const [before, rest = ''] = readme.split(MARKS[0]);
  const [, after] = rest.split(MARKS[1]);
  if (after === undefined) throw new Error(`README.md has no ${MARKS.join(' … ')}`);
  return `${before}${MARKS[0]}\n${table}\n${MARKS[1]}${after}`;
}

/** Names the benches to run for what is left out. @returns the exit status: 3 where git cannot tell which records count */
function write(): number {
  let ageOf: AgeOf;
  try {
    ageOf = agesByGit();
  } catch (error) {
    console.error(`Nothing was written: whether a record's commit is in this repository cannot be told, since
${(error as Error).message}.`);
    return 3;
  }
  const { page, table, missing } = measuredTexts(recordedRows(), ageOf);
  const readme = join(ROOT, 'README.md');
  writeFileSync(join(ROOT, 'docs/measured.md'), page);
  writeFileSync(readme, withTable(readFileSync(readme, 'utf8'), table));
  console.log('docs/measured.md and README.md are written');
  if (missing.length > 0) console.log(`Left out; to be run:\n${missing.join('\n')}`);
  return 0;
}

if (process.env.WRITE === '1') process.exitCode = write();
