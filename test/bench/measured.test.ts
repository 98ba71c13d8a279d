import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import t from 'tap';
import { measuredTexts, recordedRows, withTable } from '../../bench/measured.ts';
import type { Row } from '../../bench/rig/record.ts';

const root = resolve(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

t.test('docs/measured.md and the README say what the records say', async (t) => {
  const { page, table } = measuredTexts(recordedRows());
  t.equal(page, read('docs/measured.md'), 'make measured writes it anew');
  const readme = read('README.md');
  t.equal(withTable(readme, table), readme, 'make measured writes it anew');
});

t.test('the newest record of a quiet machine counts, with the figures of its own run', async (t) => {
  const all = recordedRows();
  const start = all.find(({ bench, metric }) => bench === 'start' && metric === 'first_ms')!;
  const later = all.find(({ bench, metric }) => bench === 'start' && metric === 'later_ms')!;
  const run = (date: string, load: number, ms: number): Row[] => [
    { ...start, date, load, value: ms },
    { ...later, date, load, value: ms / 2 },
  ];
  const { page } = measuredTexts([...all, ...run('2030-01-01', 1, 222), ...run('2030-01-02', 20, 333)]);
  t.match(page, /first 222 ms, later 111 ms .* 2030-01-01/);
  const without = all.filter(({ bench }) => bench !== 'start');
  t.throws(() => measuredTexts(without), /no record has "first_ms" of start/);
});
