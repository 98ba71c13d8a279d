import { stat } from 'node:fs';
import t, { type Test } from 'tap';
import type { Shard } from '../../../src/engine/shard/shard.ts';
import type { RankedList } from '../../../src/engine/shard/snapshot.ts';
import { errorCode } from '../../../src/protocol/error.ts';
import { itemOf, openFor, passage } from './fixtures.ts';
import '../../rig/teardown-order.ts';

/** With this many dimensions a few rows make a long scan. */
const WIDE = [{ name: 'wide', dimensions: 8192, modelSha256: 'ab'.repeat(32) }];
const ROWS = 800;
const NEVER = new AbortController().signal;

const NUMBERS = Float32Array.from({ length: 2 * 8192 }, (_, index) => Math.sin(index * index) / 64);

/** A slice of one long row of numbers, which costs nothing. */
function row(seed: number): Float32Array {
  return NUMBERS.subarray(seed * 7, seed * 7 + 8192);
}

async function withLargeShard(test: Test, run: (shard: Shard) => Promise<void>): Promise<void> {
  const tenants = openFor(test, 4, WIDE);
  await tenants.use('ws_a', { create: true }, async (shard) => {
    const segments = Array.from({ length: ROWS }, (_, index) =>
      passage('a', 'word', { place: index >> 1, vectors: { wide: row(index) } }),
    );
    await shard.append(itemOf('a', { segments: ROWS }), segments);
    await run(shard);
  });
}

t.test('a long scan leaves the event loop free, and gives the same hits as a short one', async (t) => {
  await withLargeShard(t, async (shard) => {
    const snapshot = shard.snapshot();
    const order: string[] = [];
    const question = { space: 'wide', vector: row(3) };
    // From a callback of the poll phase the immediate comes before anything that another thread sends.
    const ranking = await new Promise<RankedList>((resolve, reject) => {
      stat('.', () => {
        setImmediate(() => order.push('immediate'));
        Promise.resolve(snapshot.rank(question, { depth: 20 }, NEVER)).then((list) => {
          order.push('ranking');
          resolve(list);
        }, reject);
      });
    });
    t.same(order, ['immediate', 'ranking']);
    const plain = snapshot.searchVector('wide', row(3), ranking.segments.length);
    t.same([...ranking.segments], [...plain.segments]);
    t.same([...ranking.scores], [...plain.scores]);
    const places = [...ranking.segments].map((segment) => segment - (segment % 2));
    t.ok(new Set(places).size >= 20, 'as many places as were asked for');
    t.equal(ranking.exact, true);
    snapshot.close();
  });
});

t.test('a cancelled scan ends, and its snapshot can be closed while it runs', async (t) => {
  await withLargeShard(t, async (shard) => {
    const question = { space: 'wide', vector: row(5) };
    const given = new AbortController();
    given.abort();
    const first = shard.snapshot();
    await t.rejects(Promise.resolve(first.rank(question, { depth: 20 }, given.signal)), {
      code: 'interrupted',
    });
    first.close();
    // Cancelled or finished first: either way the promise settles and nothing holds the snapshot.
    const running = new AbortController();
    const outcomes = Array.from({ length: 8 }, () => {
      const snapshot = shard.snapshot();
      const outcome = Promise.resolve(snapshot.rank(question, { depth: 20 }, running.signal));
      snapshot.close();
      return outcome.then(
        () => 'finished',
        (error: unknown) => errorCode(error),
      );
    });
    running.abort();
    for (const outcome of await Promise.all(outcomes))
      t.ok(['finished', 'interrupted'].includes(outcome ?? ''));
  });
});
