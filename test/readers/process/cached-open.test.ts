import { mock } from 'node:test';
import t from 'tap';
import type { FileInfo } from '../../../src/protocol/document.ts';
import { ReadAlong, type ReadFile } from '../../../src/readers/process/read-along.ts';

const info = (): FileInfo => ({ kind: 'text', mediaType: 'text/plain' });

function textOf(length: number): ReadFile {
  return { collector: { blocks: [{ text: 'x'.repeat(length) }], pictures: [], take: () => undefined } };
}

t.test('contents are given once, for the FileInfo that they were kept under', async (t) => {
  const along = new ReadAlong();
  const [mine, alike, read] = [info(), info(), textOf(10)];
  along.keep(mine, read);
  t.equal(along.take(alike), undefined, 'equal facts of another file');
  t.equal(along.take(mine), read);
  t.equal(along.take(mine), undefined);
});

t.test('what finds no room is not kept, and what is taken makes room', async (t) => {
  const along = new ReadAlong({ bytesMax: 4096 });
  const [first, second, third] = [info(), info(), info()];
  along.keep(first, textOf(1024));
  along.keep(second, textOf(1024));
  t.equal(along.take(second), undefined);
  t.ok(along.take(first));
  along.keep(third, textOf(1024));
  t.ok(along.take(third));
});

t.test('what nobody has taken for a minute is given up', async (t) => {
  let now = 0;
  const along = new ReadAlong({ bytesMax: 4096, now: () => now });
  const [left, next] = [info(), info()];
  along.keep(left, textOf(1024));
  now = 60_000;
  along.keep(next, textOf(1024));
  t.equal(along.take(left), undefined);
  t.ok(along.take(next));
});

t.test('it is given up even if no other file is opened', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  let now = 0;
  const along = new ReadAlong({ now: () => now });
  const left = info();
  along.keep(left, textOf(1024));
  now = 60_000;
  mock.timers.tick(60_000);
  t.equal(along.take(left), undefined);
});
