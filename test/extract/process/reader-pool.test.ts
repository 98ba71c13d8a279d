import t from 'tap';
import { ReaderPool } from '../../../src/extract/process/reader-pool.ts';
import type { ReaderQueue, ReaderTask } from '../../../src/extract/process/warm-reader.ts';

/** Stands for a child process: its task ends when the test says so. */
class HeldLane {
  readonly #ends: (() => void)[] = [];

  get busy(): number {
    return this.#ends.length;
  }

  run(): Promise<unknown> {
    return new Promise((resolve) => this.#ends.push(() => resolve({})));
  }

  end(): void {
    this.#ends.shift()!();
  }
}

function lanesOf(count: number) {
  const lanes = Array.from({ length: count }, () => new HeldLane());
  const fair = new ReaderPool(lanes as unknown as ReaderQueue[], 100);
  const busy = () => lanes.filter((lane) => lane.busy > 0).length;
  return { lanes, fair, busy, run: (owner: string) => fair.run(owner, {} as ReaderTask) };
}

const settled = () => new Promise((resume) => setImmediate(resume));

t.test('one owner leaves a lane to the others, however many there are', async (t) => {
  for (const count of [2, 3, 8]) {
    const { lanes, fair, busy, run } = lanesOf(count);
    const greedy = Array.from({ length: 20 }, () => run('greedy'));
    await settled();
    t.equal(busy(), count - 1, `of ${count}`);
    const other = run('other');
    await settled();
    t.equal(busy(), count, 'another owner has the last one at once');
    while (fair.depth > 0) {
      for (const lane of lanes) if (lane.busy > 0) lane.end();
      await settled();
    }
    await Promise.all([...greedy, other]);
  }
});

t.test('a single lane serves everybody in turn', async (t) => {
  const { lanes, busy, run } = lanesOf(1);
  const all = ['a', 'b', 'a'].map(run);
  for (let task = 0; task < 3; task++) {
    await settled();
    t.equal(busy(), 1);
    lanes[0]!.end();
  }
  await Promise.all(all);
});
