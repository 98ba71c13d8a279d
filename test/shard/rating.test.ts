import t from 'tap';
import type { ListQuery, Snapshot } from '../../src/shard/snapshot.ts';
import { itemOf, openFor, passage, towards } from './fixtures.ts';

const NEVER = new AbortController().signal;

/** What a query finds in every Segment, sorted as the native side wants them. */
async function ratedAndRanked(snapshot: Snapshot, query: ListQuery, depth: number) {
  const ranking = await snapshot.rank(query, { depth }, NEVER);
  const segments = ranking.segments.toSorted();
  return { ranking, segments, rating: snapshot.rate(query, segments) };
}

const MEANING: ListQuery = { space: 'text_semantic', vector: towards(0) };
const TEXTS = ['red fox', 'red red hen', 'a fox and a hen', 'a heron', 'red heron by the water'];

t.test('a rating gives the scores that a search gives', async (t) => {
  const tenants = openFor(t);
  await tenants.use('ws_rate', { create: true }, async (shard) => {
    for (const [index, text] of TEXTS.entries()) {
      const id = `item_${index}`;
      const vectors = { text_semantic: towards(index / 10) };
      await shard.append(itemOf(id), [passage(id, text, { place: index, vectors })]);
    }
    const snapshot = shard.snapshot();
    for (const query of [MEANING, { words: 'red fox heron' }]) {
      const { ranking, segments, rating } = await ratedAndRanked(snapshot, query, 10);
      const found = new Map([...ranking.segments].map((segment, at) => [segment, ranking.scores[at]]));
      t.same(
        [...rating.scores],
        [...segments].map((segment) => found.get(segment)),
      );
    }
    const { held, information } = snapshot.rate({ words: 'red fox' }, Uint32Array.of(0, 1, 3));
    t.equal(held[0], 1, 'both words');
    t.ok(held[1]! > 0 && held[1]! < 1, 'one of them');
    t.equal(held[2], 0);
    t.ok(information > 0);
    snapshot.close();
  });
});

t.test('a few Segments with the words as written are told from those with the stems', async (t) => {
  const tenants = openFor(t);
  await tenants.use('ws_written', { create: true }, async (shard) => {
    const texts = ['The Bridges of a family', 'a bridge, bridged', 'see bridges.example.org', 'no such word'];
    for (const [index, text] of texts.entries())
      await shard.append(itemOf(`item_${index}`), [passage(`item_${index}`, text)]);
    await shard.append({ ...itemOf('item_titled'), title: 'Bridges' }, [
      passage('item_titled', 'a text', { words: 'Bridges\na text' }),
    ]);
    const snapshot = shard.snapshot();
    const written = (words: string) => [...snapshot.rate({ words }, Uint32Array.of(1)).written];
    const itself = (segment: number) => [segment, { place: segment, moment: segment, size: 0, note: false }];
    t.same(written('bridges'), [0, 2, 4].map(itself));
    t.same(written('Bridges family'), [0].map(itself));
    t.same(written('bridging'), []);
    t.same(written('bridges absentword'), []);
    snapshot.close();
  });
});

t.test('the sample of a space depends on its living rows, not on how they are stored', async (t) => {
  const tenants = openFor(t);
  const rows = Array.from({ length: 3_000 }, (_, index) => towards((index * 7) % 31));
  const fill = (tenant: string, step: number) =>
    tenants.use(tenant, { create: true }, async (shard) => {
      for (let from = 0; from < rows.length; from += step) {
        const id = `item_${from}`;
        const segments = rows
          .slice(from, from + step)
          .map((vector, at) => passage(id, '', { place: at, vectors: { text_semantic: vector } }));
        await shard.append(itemOf(id), segments);
      }
      await shard.whenIdle();
      const snapshot = shard.snapshot();
      const { sample } = snapshot.rate(MEANING, new Uint32Array());
      const exact = await snapshot.rank(MEANING, { depth: rows.length, exact: true }, NEVER);
      snapshot.close();
      return { sample, scores: [...exact.scores] };
    });
  const [few, many] = [await fill('ws_few', 1_500), await fill('ws_many', 100)];
  t.same(few.sample, many.sample);
  t.ok(few.sample.count >= 512 && few.sample.count < 1_024, `${few.sample.count}`);
  const mean = few.scores.reduce((sum, score) => sum + score, 0) / few.scores.length;
  t.ok(Math.abs(few.sample.mean - mean) < 0.1, `${few.sample.mean} and ${mean}`);
});

t.test('a Segment without a row is not a number, and an index without rows has no sample', async (t) => {
  const tenants = openFor(t);
  await tenants.use('ws_none', { create: true }, async (shard) => {
    await shard.append(itemOf('item_a'), [passage('item_a', 'words alone', { vectors: {} })]);
    const snapshot = shard.snapshot();
    const { scores, sample } = snapshot.rate(MEANING, Uint32Array.of(0));
    t.ok(Number.isNaN(scores[0]));
    t.equal(sample.count, 0);
    snapshot.close();
  });
});
