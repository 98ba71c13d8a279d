import { mock } from 'node:test';
import t from 'tap';
import type { FileInfo } from '../../../src/protocol/document.ts';
import { CachedOpens, type ReadFile } from '../../../src/readers/process/cached-open.ts';

const info = (): FileInfo => ({ kind: 'text', mediaType: 'text/plain' });

function textOf(length: number): ReadFile {
  return { collector: { blocks: [{ text: 'x'.repeat(length) }], pictures: [], take: () => undefined } };
}

t.test('what finds no room is not kept, and what is taken makes room', async (t) => {
  const cached = new CachedOpens({ bytesMax: 4096 });
  const [first, second, third] = [info(), info(), info()];
  cached.keep(first, textOf(1024));
  cached.keep(second, textOf(1024));
  t.equal(cached.take(second), undefined);
  t.ok(cached.take(first));
  cached.keep(third, textOf(1024));
  t.ok(cached.take(third));
});

t.test('what nobody has taken for a minute is given up, even if no other file is opened', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  let now = 0;
  const cached = new CachedOpens({ now: () => now });
  const left = info();
  cached.keep(left, textOf(1024));
  now = 60_000;
  mock.timers.tick(60_000);
  t.equal(cached.take(left), undefined);
});
