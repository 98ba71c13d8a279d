import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import t from 'tap';
import { type AgeOf, agesByGit, linesOfRecords, measuredTexts, recordedRows } from '../../bench/measured.ts';
import type { Row } from '../../bench/rig/record.ts';

const root = resolve(import.meta.dirname, '../..');
const records = recordedRows();
const ageOf = ((): AgeOf | undefined => {
  try {
    return agesByGit();
  } catch {
    return undefined;
  }
})();

/** Lines of the table below a title, without its head. */
function tableOf(path: string, marker: string): string[] {
  const lines = readFileSync(join(root, path), 'utf8').split('\n');
  const from = lines.findIndex((line) => line.startsWith(marker));
  const to = lines.findIndex((line, at) => at > from && !line.startsWith('|'));
  return lines.slice(from + 2, to);
}

t.test('every figure of docs/measured.md and of the README is that of a record', async (t) => {
  const page = tableOf('docs/measured.md', '| what | figure (peer) |');
  const readme = tableOf('README.md', '| what | figure (peer in the same run) |');
  t.ok(page.length > 5 && readme.length > 0);
  const known = linesOfRecords(records);
  for (const line of [...page, ...readme]) t.ok(known.has(line), line);
});

t.test(
  'every commit that docs/measured.md names is in the repository',
  { skip: ageOf === undefined && 'git cannot tell' },
  async (t) => {
    for (const line of tableOf('docs/measured.md', '| what | figure (peer) |')) {
      const commit = /, ([0-9a-f]{7,}) \|/.exec(line)?.[1] ?? '';
      t.not(ageOf!(commit), undefined, line);
    }
  },
);

t.test('a record counts by its commit: unknown ones never, old ones not in the README', async (t) => {
  const first = records.find(
    ({ bench, metric }) => bench === 'path' && metric === 'all families, 10 hits/p50_ms',
  )!;
  const run = (commit: string, date: string, load: number, ms: number): Row[] =>
    ['all families, 10 hits', 'raw, 10 hits', 'bare HTTP exchange'].map((what) => ({
      ...first,
      metric: `${what}/p50_ms`,
      commit,
      date,
      load,
      value: ms,
    }));
  const rows = [
    ...run('old', '2030-01-01', 1, 222),
    ...run('new', '2030-01-02', 1, 333),
    ...run('new', '2030-01-03', 20, 444),
    ...run('elsewhere', '2030-01-04', 1, 555),
  ];
  const ages: Record<string, number> = { old: 101, new: 100 };
  const newest = measuredTexts(rows, (commit) => ages[commit]);
  t.match(newest.page, /all families 333 ms/, 'the newest of a quiet machine whose commit is known');
  t.match(newest.table, /all families 333 ms/);
  const old = measuredTexts(run('old', '2030-01-01', 1, 222), (commit) => ages[commit]);
  t.match(old.page, /all families 222 ms/);
  t.notMatch(old.table, /222/);
  t.ok(old.missing.some((line) => /^make bench NAME=path: .* is 101 commits old/.test(line)));
  t.ok(old.missing.some((line) => /^make bench NAME=start: no record/.test(line)));
});
