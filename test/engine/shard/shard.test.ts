import { createHash } from 'node:crypto';
import t, { type Test } from 'tap';
import type { Shard } from '../../../src/engine/shard/shard.ts';
import type { Snapshot } from '../../../src/engine/shard/snapshot.ts';
import { itemOf, openFor, passage, sha256, towards } from './fixtures.ts';
import '../../rig/teardown-order.ts';

/** Runs against a fresh index. */
async function withShard(test: Test, run: (shard: Shard) => Promise<void>): Promise<void> {
  const tenants = openFor(test);
  await tenants.use('ws_a', { create: true }, run);
}

function look<T>(shard: Shard, read: (snapshot: Snapshot) => T): T {
  const snapshot = shard.snapshot();
  try {
    return read(snapshot);
  } finally {
    snapshot.close();
  }
}

t.test('an item becomes visible with all its segments, in every family', async (t) => {
  await withShard(t, async (shard) => {
    const before = shard.snapshot();
    const digest = createHash('sha256').update('picture').digest();
    await shard.append(itemOf('a', { segments: 3 }), [
      passage('a', 'Tabby cats sleep'),
      passage('a', 'Dogs bark', { vectors: { text_semantic: towards(0.5) }, place: 7 }),
      {
        record: { item: 'a', locator: {}, place: 2 },
        fingerprint: new Uint8Array(16).fill(0x5a),
        digest,
        vectors: {},
      },
      passage('a', 'Wolves howl', { vectors: {}, place: 7 }),
    ]);
    t.same(before.counts(), { items: 0, segments: 0, bytes: 0 }, 'an older snapshot does not see it');
    t.equal(before.searchWords('cat', 5).segments.length, 0);
    before.close();
    look(shard, (snapshot) => {
      t.same(snapshot.counts(), { items: 1, segments: 4, bytes: 100 });
      const near = snapshot.searchVector('text_semantic', towards(0.1), 10);
      t.same([...near.segments], [0, 1]);
      t.equal(near.exact, true);
      t.equal(near.scanned, 2);
      t.ok(Math.abs(near.scores[0]! - Math.cos(0.1)) < 1e-6);
      t.same([...snapshot.searchWords('cat', 5).segments], [0]);
      const picture = snapshot.searchPicture(new Uint8Array(16).fill(0x5a), digest, 5);
      t.same([[...picture.segments], [...picture.scores]], [[2], [1]]);
      const shown = {
        item: itemOf('a', { segments: 3 }),
        locator: { page: 1 },
        text_source: 'native',
      };
      t.same(
        snapshot.hits(Uint32Array.of(1, 99, 0), { query: 'bark' }).toJSON(),
        [
          { ...shown, snippet: 'Dogs bark', highlights: [[5, 9]] },
          { ...shown, snippet: 'Tabby cats sleep', highlights: [] },
        ],
        'a snippet in the place of a text',
      );
      t.same(snapshot.item('a'), itemOf('a', { segments: 3 }));
      t.equal(snapshot.item('b'), undefined);
    });
  });
});

t.test('a removed item is gone from every family, and the others are not', async (t) => {
  await withShard(t, async (shard) => {
    await shard.append(itemOf('a'), [passage('a', 'red apples')]);
    await shard.append(itemOf('b'), [passage('b', 'red pears')]);
    t.equal(await shard.removeItem('a'), true);
    t.equal(await shard.removeItem('a'), false);
    t.equal(shard.item('a'), undefined);
    t.same(shard.itemsByDigest(sha256('a')), []);
    look(shard, (snapshot) => {
      t.same([...snapshot.searchWords('red', 5).segments], [1]);
      t.same([...snapshot.searchVector('text_semantic', towards(0), 5).segments], [1]);
      t.same(snapshot.hits(Uint32Array.of(0)).toJSON(), []);
      t.same(snapshot.counts(), { items: 1, segments: 1, bytes: 100 });
    });
  });
});

t.test('an item that is appended again replaces its earlier version', async (t) => {
  await withShard(t, async (shard) => {
    await shard.putItem(itemOf('a', { state: 'pending' }));
    await shard.putItem(itemOf('b', { state: 'pending' }));
    await shard.append(itemOf('a'), [passage('a', 'first version')]);
    await shard.append(itemOf('a'), [passage('a', 'second version')]);
    t.same(
      shard.items({ limit: 10 }).map(({ id, state }) => [id, state]),
      [
        ['a', 'searchable'],
        ['b', 'pending'],
      ],
    );
    look(shard, (snapshot) => {
      t.equal(snapshot.searchWords('first', 5).segments.length, 0);
      t.equal(snapshot.searchWords('second', 5).segments.length, 1);
      t.equal(snapshot.counts().segments, 1);
    });
  });
});

t.test('an item that cannot be indexed is refused and leaves no trace', async (t) => {
  await withShard(t, async (shard) => {
    const bad = (vector: Float32Array): Promise<void> => {
      return shard.append(itemOf('a'), [
        passage('a', 'fine'),
        passage('a', 'bad', { vectors: { text_semantic: vector } }),
      ]);
    };
    await t.rejects(bad(new Float32Array(8).fill(Number.NaN)));
    await t.rejects(bad(new Float32Array(7)));
    await t.rejects(shard.append(itemOf('a'), [passage('a', 'x', { vectors: { nowhere: towards(0) } })]));
    await t.rejects(shard.putItem(itemOf('a', { sha256: 'short' })));
    t.equal(shard.item('a'), undefined);
    look(shard, (snapshot) => {
      t.equal(snapshot.searchWords('fine', 5).segments.length, 0);
      t.throws(() => snapshot.searchVector('text_semantic', new Float32Array(8).fill(Number.NaN), 5));
      t.throws(() => snapshot.searchVector('text_semantic', towards(0), -1));
    });
  });
});
