import t from 'tap';
import { BatchQueue, type Work } from '../../../../src/engine/encode/workers/batch-queue.ts';

interface TestWork extends Work<string> {
  gone: boolean;
}

function work(tenant: string, entries: string[], kind = 'texts'): TestWork {
  return {
    tenant,
    kind,
    entries,
    gone: false,
    size: (entry) => entry.length,
    cost: (entry) => entry.length,
    cancelled() {
      return this.gone;
    },
  };
}

const bounds =
  (entries: number, size = 1000) =>
  () => ({ entries, size });
const taken = (queue: BatchQueue<string>, entries: number, size?: number) =>
  queue.take(bounds(entries, size)).flatMap((piece) => piece.entries);

t.test('one batch takes from several tenants, one kind at a time', async (t) => {
  const queue = new BatchQueue<string>(100);
  queue.enter(work('a', ['a1']));
  queue.enter(work('b', ['b1'], 'pictures'));
  queue.enter(work('c', ['c1']));
  t.strictSame(taken(queue, 9), ['a1', 'c1']);
  t.strictSame(taken(queue, 9), ['b1']);
});

t.test('a batch stays within its size, but is never empty', async (t) => {
  const queue = new BatchQueue<string>(100);
  queue.enter(work('a', ['xxxxxxxxxx', 'xx', 'xx', 'xx']));
  t.strictSame(taken(queue, 9, 4), ['xxxxxxxxxx']);
  t.strictSame(taken(queue, 9, 4), ['xx', 'xx']);
});

t.test('an entry that does not fit any more comes first in the next batch', async (t) => {
  const queue = new BatchQueue<string>(100);
  queue.enter(work('small', ['xx']));
  queue.enter(work('large', ['yyy']));
  queue.enter(work('other', ['zz']));
  t.strictSame(taken(queue, 9, 4), ['xx', 'zz']);
  queue.enter(work('small', ['xx']));
  t.strictSame(taken(queue, 9, 4), ['yyy']);
});

t.test('repeated pieces come first, and alone', async (t) => {
  const queue = new BatchQueue<string>(100);
  const broken = work('a', ['1', '2']);
  queue.enter(broken);
  const [piece] = queue.take(bounds(1));
  queue.enterAgain(piece!);
  const again = queue.take(bounds(9));
  t.strictSame(
    again.map(({ entries, attempts }) => [entries, attempts]),
    [[['1'], 1]],
  );
  t.strictSame(taken(queue, 9), ['2']);
});

t.test('waiting work can be removed when the queue closes', async (t) => {
  const queue = new BatchQueue<string>(100);
  const [first, second] = [work('a', ['1', '2']), work('b', ['3'])];
  queue.enter(first);
  queue.enter(second);
  queue.enterAgain({ work: first, entries: ['1'], attempts: 0 });
  t.strictSame(new Set(queue.drain()), new Set([first, second]));
  t.equal(queue.depth, 0);
});
