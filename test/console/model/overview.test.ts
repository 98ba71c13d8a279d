import t from 'tap';
import type { FileEntry } from '../../../src/console/model/files/entry.ts';
import { overviewOf } from '../../../src/console/model/files/overview.ts';
import { minutesOf } from '../../../src/console/model/prices.ts';

const file = (name: string, state: FileEntry['state'], more: Partial<FileEntry> = {}): FileEntry => ({
  key: name,
  name,
  bytes: 1,
  progress: 0,
  state,
  ...more,
});

t.test('the same fault of many files is one group, the largest first', async (t) => {
  const { failures, done, total } = overviewOf([
    file('a.bin', 'refused', { why: 'a.bin cannot be read.' }),
    file('b.txt', 'failed', { why: 'It is empty.' }),
    file('c.bin', 'refused', { why: 'c.bin cannot be read.' }),
    file('d.txt', 'searchable'),
  ]);
  t.same(
    failures.map(({ why, files }) => [why, files.length]),
    [
      ['The file cannot be read.', 2],
      ['It is empty.', 1],
    ],
  );
  t.same([done, total], [4, 4]);
});

t.test('progress never falls as a file goes on, and is whole when all are done', async (t) => {
  const stages = [
    'waiting',
    'sending',
    'accepted',
    'extracting',
    'encoding',
    'committing',
    'searchable',
  ] as const;
  const shares = stages.map((state) => overviewOf([file('a', state), file('b', 'searchable')]).progress);
  t.same(
    shares,
    shares.toSorted((a, b) => a - b),
  );
  t.equal(shares.at(-1), 1);
  t.equal(overviewOf([]).progress, 0);
  t.ok(overviewOf([file('a', 'committing', { progress: 1 })]).progress <= 1);
});

t.test('minutes out of range become the nearest that are sold', async (t) => {
  const sold = { min: 1, max: 1440 };
  const taken = ['15', '0', '-3', '99999', '15.4', '', 'x', '1e3'].map((text) => minutesOf(text, sold));
  t.same(taken, [15, 1, 1, 1440, 15, 1, 1, 1000]);
});
