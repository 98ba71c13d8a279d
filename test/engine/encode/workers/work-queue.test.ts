import t from 'tap';
import { type Work, WorkQueue } from '../../../../src/engine/encode/workers/work-queue.ts';

interface TestWork extends Work<string> {
  gone: boolean;
}

function work(tenant: string, entries: string[], kind = 'texts'): TestWork {
  return {
    tenant,
    kind,
    entries,
    gone: false,
    cost: (entry) => entry.length,
    weight: (entry) => entry.length,
    cancelled() {
      return this.gone;
    },
  };
}

const bounds =
  (entries: number, cost = 1000) =>
  () => ({ entries, cost });
const taken = (queue: WorkQueue<string>, entries: number, cost?: number) =>
  queue.pull(bounds(entries, cost)).flatMap((piece) => piece.entries);

t.test('a few words come before the long texts of owners that have had as much', async (t) => {
  const queue = new WorkQueue<string>(100);
  const long = 'x'.repeat(400);
  for (const tenant of ['a', 'b', 'c']) queue.add(work(tenant, [long, long]));
  t.strictSame(taken(queue, 1), [long]);
  queue.add(work('light', ['few words']));
  queue.add(work('light', ['more']));
  t.strictSame(taken(queue, 1), ['few words']);
  t.strictSame(taken(queue, 1), ['more']);
  queue.add(work('light', [long]));
  t.strictSame(taken(queue, 1), [long]);
  queue.add(work('d', ['quick']));
  t.strictSame(
    queue.pull(bounds(9), true).flatMap(({ entries }) => entries),
    ['quick'],
    'only what is quick',
  );
  t.strictSame(queue.pull(bounds(9), true), []);
  t.equal(queue.owners, 4);
});

t.test('one pull takes from several tenants, one kind at a time', async (t) => {
  const queue = new WorkQueue<string>(100);
  queue.add(work('a', ['a1']));
  queue.add(work('b', ['b1'], 'pictures'));
  queue.add(work('c', ['c1']));
  t.strictSame(taken(queue, 9), ['a1', 'c1']);
  t.strictSame(taken(queue, 9), ['b1']);
});

t.test('a pull stays within its cost, but never takes nothing', async (t) => {
  const queue = new WorkQueue<string>(100);
  queue.add(work('a', ['xxxxxxxxxx', 'xx', 'xx', 'xx']));
  t.strictSame(taken(queue, 9, 4), ['xxxxxxxxxx']);
  t.strictSame(taken(queue, 9, 4), ['xx', 'xx']);
});

t.test('an entry that does not fit any more comes first in the next pull', async (t) => {
  const queue = new WorkQueue<string>(100);
  queue.add(work('small', ['xx']));
  queue.add(work('large', ['yyy']));
  queue.add(work('other', ['zz']));
  t.strictSame(taken(queue, 9, 4), ['xx', 'zz']);
  queue.add(work('small', ['xx']));
  t.strictSame(taken(queue, 9, 4), ['yyy']);
});

t.test('repeated pieces come first, and alone', async (t) => {
  const queue = new WorkQueue<string>(100);
  const broken = work('a', ['1', '2']);
  queue.add(broken);
  const [piece] = queue.pull(bounds(1));
  queue.repeat(piece!);
  const again = queue.pull(bounds(9));
  t.strictSame(
    again.map(({ entries, attempts }) => [entries, attempts]),
    [[['1'], 1]],
  );
  t.strictSame(taken(queue, 9), ['2']);
});
