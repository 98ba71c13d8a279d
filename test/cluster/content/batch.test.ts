import t from 'tap';
import { decodeBatch, encodeBatch } from '../../../src/cluster/content/batch.ts';
import { itemOf, passage, SPACES } from '../../engine/shard/fixtures.ts';
import { Random } from '../../rig/random.ts';

t.test(
  'what an index takes is the same after it was written, at any length and with any members',
  async (t) => {
    for (let seed = 1; seed <= 40; seed++) {
      const random = new Random(seed);
      const row = (length: number) => Float32Array.from({ length }, () => random.below(1000) / 7);
      const segments = Array.from({ length: random.below(600) }, (_, index) => ({
        ...passage('a', `passage ${index} „äß“ ${'x'.repeat(random.below(9))}`),
        ...(random.hits(0.3) && {
          fingerprint: Uint8Array.of(1, random.below(256)),
          digest: new Uint8Array(32).fill(index),
        }),
        vectors: random.hits(0.2)
          ? {}
          : { text_semantic: row(8), ...(random.hits(0.5) && { 'visual_picture@0123': row(4) }) },
      }));
      const batch = {
        item: itemOf('a', { name: `Übung ${seed}.txt` }),
        segments,
        spaces: SPACES,
        replaces: seed % 2 ? [] : ['b', 'c'],
      };
      // At an odd place, as a part of a larger buffer.
      const encoded = Buffer.concat([Buffer.alloc(seed % 5), await encodeBatch(batch)]).subarray(seed % 5);
      const { item, spaces, replaces, segments: found } = decodeBatch(encoded);
      t.strictSame(
        { item, spaces, replaces },
        { item: batch.item, spaces: SPACES, replaces: batch.replaces },
      );
      const plain = (all: typeof found) =>
        all.map(({ fingerprint, digest, vectors, ...rest }) => ({
          ...rest,
          fingerprint: fingerprint && [...fingerprint],
          digest: digest && [...digest],
          vectors: Object.entries(vectors).map(([space, values]) => [space, ...values]),
        }));
      t.strictSame(plain(found), plain(segments), `seed ${seed}`);
    }
  },
);

t.test('bytes that are cut short or of another format are refused', async (t) => {
  const bytes = await encodeBatch({
    item: itemOf('a'),
    segments: [passage('a', 'x')],
    spaces: SPACES,
    replaces: [],
  });
  for (const length of [0, 3, 40, bytes.length - 40]) t.throws(() => decodeBatch(bytes.subarray(0, length)));
  const later = Buffer.from(
    Buffer.from(bytes).toString('latin1').replace('"format":1', '"format":3'),
    'latin1',
  );
  t.throws(() => decodeBatch(later), /needs a newer Farthing/);
});
