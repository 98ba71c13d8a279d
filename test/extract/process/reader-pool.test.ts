import t from 'tap';
import { ReaderPool, type ReaderPoolOptions } from '../../../src/extract/process/reader-pool.ts';
import type { ReaderTask, WarmReader } from '../../../src/extract/process/warm-reader.ts';

/** In place of a child process: its tasks end when the test says so. */
class HeldReader {
  readonly #ends: (() => void)[] = [];

  get busy(): number {
    return this.#ends.length;
  }

  perform(): Promise<unknown> {
    return new Promise((resolve) => this.#ends.push(() => resolve({})));
  }

  end(): void {
    this.#ends.shift()!();
  }
}

function poolOf(count: number, bounds: Partial<ReaderPoolOptions> = {}) {
  const held = Array.from({ length: count }, () => new HeldReader());
  const readers = held as unknown as WarmReader[];
  const pool = new ReaderPool({ readers, waitingMax: 100, ...bounds });
  const busy = () => held.filter((reader) => reader.busy > 0).length;
  const run = (tenant: string, task: Partial<ReaderTask> = {}) => pool.run(tenant, task as ReaderTask);
  return { held, pool, busy, run };
}

const settled = () => new Promise((resume) => setImmediate(resume));

t.test('one tenant leaves a reader to the others, however many there are', async (t) => {
  for (const count of [2, 3, 8]) {
    const { held, pool, busy, run } = poolOf(count, { shareReadersMax: count - 1 });
    const greedy = Array.from({ length: 20 }, () => run('greedy'));
    t.equal(busy(), count - 1, `of ${count}`);
    const other = run('other');
    t.equal(busy(), count, 'another tenant has the last one at once');
    while (pool.depth > 0) {
      for (const reader of held) if (reader.busy > 0) reader.end();
      await settled();
    }
    await Promise.all([...greedy, other]);
  }
});

t.test('a single reader serves the tenants in turn', async (t) => {
  const { held, busy, run } = poolOf(1);
  const ended: string[] = [];
  const tasks = ['a', 'a', 'a', 'b'].map((tenant) => run(tenant).then(() => ended.push(tenant)));
  while (ended.length < tasks.length) {
    t.equal(busy(), 1);
    held[0]!.end();
    await settled();
  }
  t.same(ended, ['a', 'a', 'b', 'a'], 'the first two were taken before b came');
});

t.test('a task that is aborted before its turn never starts; one too many is refused', async (t) => {
  const { held, pool, busy, run } = poolOf(1, { waitingMax: 2 });
  const first = run('a');
  const controller = new AbortController();
  const aborted = run('a', { signal: controller.signal });
  const waiting = run('b');
  await t.rejects(run('c'), { code: 'overloaded', retryAfterS: 2 });
  controller.abort(new Error('no longer wanted'));
  await t.rejects(aborted, /no longer wanted/);
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

t.test('tenants with a common share take its turns, and none fills it alone', async (t) => {
  const { held, pool, busy, run } = poolOf(1, { tenantWaitingMax: 2, shareWaitingMax: 3 });
  const ended: string[] = [];
  const asUnproved = (tenant: string) =>
    pool.run(tenant, {} as ReaderTask, 'unproved').then(() => ended.push(tenant));
  const tasks = [asUnproved('a'), asUnproved('a'), asUnproved('a')];
  await t.rejects(asUnproved('a'), { code: 'overloaded' }, 'two of one tenant wait');
  tasks.push(asUnproved('b'));
  await t.rejects(asUnproved('c'), { code: 'overloaded' }, 'three of the share wait');
  tasks.push(run('workspace').then(() => ended.push('workspace')));
  while (ended.length < tasks.length) {
    t.equal(busy(), 1);
    held[0]!.end();
    await settled();
  }
  t.same(ended, ['a', 'a', 'workspace', 'a', 'b']);
});

t.test('a task that is aborted already is not begun', async (t) => {
  const { pool, run } = poolOf(1);
  await t.rejects(run('a', { signal: AbortSignal.abort(new Error('the client left')) }), /client left/);
  t.equal(pool.depth, 0);
});
