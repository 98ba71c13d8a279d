import t from 'tap';
import type { PooledReader, ReaderTask } from '../../../src/readers/process/pooled-reader.ts';
import { ReaderPool, type ReaderPoolOptions } from '../../../src/readers/process/reader-pool.ts';

/** In place of a child process: its tasks end when the test says so. */
class HeldReader {
  readonly #ends: (() => void)[] = [];
  isLiving: boolean;
  isStarting = false;
  /** That the last task is said to have taken. */
  lastSeconds = 0;

  constructor(isLiving: boolean) {
    this.isLiving = isLiving;
  }

  get busy(): number {
    return this.#ends.length;
  }

  perform(): Promise<unknown> {
    this.isLiving = true;
    return new Promise((resolve) => this.#ends.push(() => resolve({})));
  }

  end(): void {
    this.#ends.shift()!();
  }
}

/** @param living how many have their process from the start */
function poolOf(count: number, bounds: Partial<ReaderPoolOptions> = {}, living = count) {
  const held = Array.from({ length: count }, (_, index) => new HeldReader(index < living));
  const readers = held as unknown as PooledReader[];
  const pool = new ReaderPool({ readers, waitingMax: 100, ...bounds });
  const busy = () => held.filter((reader) => reader.busy > 0).length;
  const run = (tenant: string, task: Partial<ReaderTask> = {}) => pool.run(tenant, task as ReaderTask);
  return { held, pool, busy, run };
}

const settled = () => new Promise((resume) => setImmediate(resume));

t.test('one owner leaves a reader to the others, however many there are', async (t) => {
  for (const count of [2, 3, 8]) {
    const { held, pool, busy, run } = poolOf(count);
    const greedy = Array.from({ length: 20 }, () => run('greedy'));
    t.equal(busy(), count - 1, `of ${count}`);
    const other = run('other');
    t.equal(busy(), count, 'another owner has the last one at once');
    while (pool.depth > 0) {
      for (const reader of held) if (reader.busy > 0) reader.end();
      await settled();
    }
    await Promise.all([...greedy, other]);
  }
});

t.test('a task that is aborted before its turn never starts; one too many is refused', async (t) => {
  const { held, pool, busy, run } = poolOf(1, { waitingMax: 3 });
  const first = run('a');
  const controller = new AbortController();
  const aborted = run('a', { signal: controller.signal });
  const waiting = run('b');
  await t.rejects(run('b'), { code: 'overloaded', retryAfterS: 2 });
  controller.abort(new Error('no longer wanted'));
  await t.rejects(aborted, /no longer wanted/);
  await t.rejects(run('a', { signal: controller.signal }), /no longer wanted/);
  t.equal(pool.depth, 2);
  held[0]!.end();
  await first;
  await settled();
  t.equal(busy(), 1);
  held[0]!.end();
  await waiting;
  await settled();
  t.equal(pool.depth, 0);
});

t.test('who leaves gives up what waits, and not what has begun', async (t) => {
  const { held, pool, busy } = poolOf(1);
  const sender = new AbortController();
  const task = {} as ReaderTask;
  const begun = pool.run('a', task, sender.signal);
  const waiting = pool.run('a', task, sender.signal);
  sender.abort(new Error('the client left'));
  await t.rejects(waiting, /client left/);
  t.same([busy(), pool.depth], [1, 1]);
  held[0]!.end();
  await begun;
});

t.test('the first reader that is free comes first, so that those behind it may end', async (t) => {
  const { held, run } = poolOf(3);
  const tasks = ['a', 'b', 'c'].map((owner) => run(owner));
  for (const index of [0, 2, 1]) held[index]!.end();
  await Promise.all(tasks);
  await settled();
  const next = [run('a'), run('b')];
  t.strictSame(
    held.map(({ busy }) => busy),
    [1, 1, 0],
  );
  for (const index of [0, 1]) held[index]!.end();
  await Promise.all(next);
});

t.test(
  'what living processes take in time starts no other; the first starts at once, and is no more the first once it ended',
  async (t) => {
    const { held, busy, run } = poolOf(3, { growthMs: 2 ** 31 - 1 }, 0);
    const tasks = Array.from({ length: 6 }, (_, index) => run(`owner ${index}`));
    for (const task of tasks.slice(0, 5)) {
      t.equal(busy(), 1);
      held[0]!.end();
      await task;
      await settled();
    }
    held[0]!.isLiving = false;
    held[0]!.end();
    await tasks[5];
    const last = run('last');
    t.equal(busy(), 1);
    held.find((reader) => reader.busy > 0)!.end();
    await last;
  },
);

t.test('a task that waits for living processes starts another, but none while one starts', async (t) => {
  const { held, busy, run } = poolOf(3, { growthMs: 1 }, 1);
  held[0]!.isStarting = true;
  const tasks = ['a', 'b', 'c', 'd'].map((owner) => run(owner));
  for (let turn = 0; turn < 20; turn++) await new Promise((resume) => setTimeout(resume, 1));
  t.equal(busy(), 1);
  held[0]!.isStarting = false;
  while (busy() < 3) await settled();
  t.equal(held.filter(({ busy }) => busy === 1).length, 3);
  for (const reader of held) reader.end();
  await Promise.all(tasks.slice(0, 3));
  await settled();
  held.find((reader) => reader.busy > 0)!.end();
  await tasks[3];
});
