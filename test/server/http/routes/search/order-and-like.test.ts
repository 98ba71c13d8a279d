import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Metadata } from '../../../../../src/protocol/labels/metadata.ts';
import type { Hit } from '../../../../../src/protocol/schema/search.ts';
import { startTestServer, TestAgent } from '../../../../rig/test-server.ts';

/** Hits in the order of a value of their files, hits that are like an item, and which are worth reading at once. */

const server = await startTestServer(t);
const agent = new TestAgent(server.url);
const workspace = await agent.rent();

async function upload(
  name: string,
  content: string | Uint8Array<ArrayBuffer>,
  metadata: Metadata = {},
): Promise<string> {
  const form = new FormData();
  form.set('metadata', JSON.stringify(metadata));
  form.set('file', new File([content], name));
  const { status, body } = await workspace.send('POST', '/ingest', form, { Prefer: 'wait=60' });
  if (status !== 200 || body.item.state !== 'searchable') throw new Error(JSON.stringify(body));
  return body.item.id;
}

const GULLS = 'The lighthouse keeper counts gulls at dawn';
const ids = {
  old: await upload('old.txt', `${GULLS} and writes them down.`, { year: 2001, at: '2001-05-01' }),
  newest: await upload('newest.txt', `${GULLS}, as his father did.`, { year: 2024, at: '2024-05-01' }),
  middle: await upload('middle.txt', `${GULLS} from the gallery.`, { year: 2012, at: '2012-05-01' }),
  other: await upload('bread.txt', 'Knead the dough for ten minutes and let it rise until morning.', {
    year: 2030,
  }),
  none: await upload('none.txt', `${GULLS} in winter.`),
};

const namesOf = (hits: readonly Hit[]) => hits.map(({ item }) => item.name);
const query = 'who counts gulls at dawn?';
const ask = async (more: object) => {
  const { status, body } = await workspace.search({ query, ...more });
  t.equal(status, 200, JSON.stringify(body));
  return body;
};

t.test('likely hits go by the value of their files, and the others follow', async (t) => {
  const { hits } = await ask({ order: { by: 'metadata.year' } });
  t.same(namesOf(hits).slice(0, 4), ['newest.txt', 'middle.txt', 'old.txt', 'none.txt']);
  t.same(namesOf(hits).slice(4), ['bread.txt'], 'the greatest value does not make it an answer');
  t.same(
    hits.map(({ likely }: Hit) => likely),
    [true, true, true, true, false],
  );
  const least = await ask({ order: { by: 'metadata.year', direction: 'ascending' }, k: 2 });
  t.same(namesOf(least.hits), ['old.txt', 'middle.txt']);
  const added = await ask({ order: { by: 'created_at' }, filter: { metadata: { year: { lt: 2025 } } } });
  t.same(namesOf(added.hits), ['middle.txt', 'newest.txt', 'old.txt']);
  const all = await ask({ order: { by: 'metadata.year' }, min_confidence: 0.000001, exact: true });
  t.equal(all.hits[0].item.name, 'bread.txt', 'with a least confidence each hit goes by the value');
});

t.test('with a half-life confidence counts less the farther the value is', async (t) => {
  const decay = { half_life: 365.25, from: '2012-05-01' };
  const { hits, answered } = await ask({ order: { by: 'metadata.at', decay } });
  t.equal(answered, true);
  t.equal(hits[0].item.name, 'middle.txt');
  t.equal(hits[0].weight, 1);
  const old = hits.find(({ item }: Hit) => item.id === ids.old);
  t.ok(Math.abs(old.weight - 2 ** -11) < 2 ** -16, 'eleven years');
  t.equal(old.likely, false);
  t.equal(hits.find(({ item }: Hit) => item.id === ids.none).weight, 0);
  const weighed = hits.map(({ confidence, weight }: Hit) => confidence * weight!);
  t.same(
    weighed,
    weighed.toSorted((one: number, other: number) => other - one),
  );
  const numbers = await ask({ order: { by: 'metadata.year', decay: { half_life: 6 } } });
  t.same(
    numbers.hits
      .map(({ item, weight }: Hit) => [item.name, weight])
      .find(([name]: [string]) => name === 'newest.txt'),
    ['newest.txt', 0.5],
    'from the greatest',
  );
});

t.test('the order holds for several questions, one by one and fused', async (t) => {
  const queries = [query, 'who counts the gulls at the lighthouse?'];
  const order = { by: 'metadata.year' };
  const apart = await ask({ query: undefined, queries, order });
  for (const { hits } of apart.answers) t.equal(namesOf(hits)[0], 'newest.txt');
  const { hits } = await ask({ query: undefined, queries, order, fused: true });
  t.same(namesOf(hits).slice(0, 4), ['newest.txt', 'middle.txt', 'old.txt', 'none.txt']);
  t.equal(hits.at(-1).likely, false);
  const decay = { half_life: 1, from: 2001 };
  const near = await ask({ query: undefined, queries, order: { ...order, decay }, fused: true });
  t.equal(namesOf(near.hits)[0], 'old.txt');
});

t.test('what is like an item is found by what is stored of it, and never the item itself', async (t) => {
  for (const families of [['text_semantic'], ['raw'], undefined]) {
    const { hits } = await ask({ query: undefined, like: ids.old, families });
    t.same(namesOf(hits).slice(0, 3).sort(), ['middle.txt', 'newest.txt', 'none.txt'], String(families));
    t.notOk(hits.some(({ item }: Hit) => item.id === ids.old));
  }
  const photos = join(import.meta.dirname, '../../../../../samples');
  const [picture] = [await upload('hot_dog.jpg', new Uint8Array(readFileSync(join(photos, 'hot_dog.jpg'))))];
  const copy = await upload('copy.jpg', new Uint8Array([...readFileSync(join(photos, 'hot_dog.jpg')), 0]));
  const { hits } = await ask({ query: undefined, like: { item: picture } });
  t.equal(hits[0].item.id, copy);
  t.ok(hits[0].likeness > 0.99);
  const place = await ask({
    query: undefined,
    like: { item: ids.old, char_start: 0 },
    order: { by: 'metadata.year' },
    min_confidence: 0.0001,
    k: 1,
  });
  t.equal(place.hits.length, 1);
  const questions = await ask({ query: undefined, queries: [{ like: ids.newest }, query] });
  t.notOk(questions.answers[0].hits.some(({ item }: Hit) => item.id === ids.newest));
  const { body } = await workspace.send('GET', '/history?limit=1');
  t.equal(body.entries[0].query, query);
});

t.test('what cannot be understood is refused, and the answer says what to send', async (t) => {
  const order = (value: unknown) => ({ query, order: value });
  for (const [body, field, says] of [
    [order('newest'), 'order', /send an object of by, direction, decay/],
    [order({}), 'order', /send "created_at", or a field of your metadata such as "metadata\.year"/],
    [order({ by: 'year' }), 'order', /"metadata\.year"/],
    [order({ by: 'created_at', direction: 'down' }), 'order', /"descending" or "ascending"/],
    [order({ by: 'created_at', decay: {} }), 'order', /half_life: send a number above 0/],
    [order({ by: 'created_at', decay: { half_life: -1 } }), 'order', /half_life: send a number above 0/],
    [order({ by: 'created_at', decay: { half_life: 1, from: 3 } }), 'order', /send a time such as/],
    [
      order({ by: 'created_at', direction: 'ascending', decay: { half_life: 1 } }),
      'order',
      /leave out direction/,
    ],
    [order({ by: 'created_at', dir: 1 }), 'order', /there is no "dir"/],
    [{ like: 'item_nowhere' }, 'like', /the index has no searchable item "item_nowhere"/],
    [{ like: { item: ids.old, page: 7 } }, 'like', /the item has no page 7/],
    [{ like: { item: ids.old, passage: 7 } }, 'like', /the item has no passage 7/],
    [{ like: { item: ids.old, char_start: 9 } }, 'like', /no passage of the item begins at 9/],
    [{ like: { item: ids.old, page: 1, time_s: 2 } }, 'like', /send one of page, time_s/],
    [{ like: { item: ids.old, page: 0 } }, 'like', /like\.page: send a whole number from 1/],
    [{ like: 5 }, 'like', /send the id of an item/],
    [{ query, like: ids.old }, 'like', /send "like" alone/],
    [{ queries: [{ query, like: ids.old }] }, 'queries', /send "query" or "like"/],
    [{ queries: [{ like: {} }] }, 'queries', /send the id of an item/],
  ] as const) {
    const answer = await workspace.search(body);
    t.equal(answer.status, 400, JSON.stringify(body));
    t.match(answer.body, { code: 'field_invalid', field, detail: says }, JSON.stringify(body));
  }
});
