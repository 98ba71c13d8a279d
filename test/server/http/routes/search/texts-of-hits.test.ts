import t from 'tap';
import { startTestServer, TestAgent } from '../../../../rig/test-server.ts';

/** Whole passages instead of snippets, with what stands around them, within a number of characters. */

const server = await startTestServer(t);
const workspace = await new TestAgent(server.url).rent();
const ANIMALS = ['otter', 'heron', 'badger', 'falcon', 'salmon', 'beetle'];
/** A chapter is longer than a passage. */
const chapter = (animal: string) =>
  `# The ${animal}\n\n${Array.from({ length: 30 }, (_, at) => `Sentence ${at} tells where the ${animal} lives in year ${1900 + at}.`).join(' ')}`;
const { body: ingested } = await workspace.ingest('animals.md', ANIMALS.map(chapter).join('\n\n'));
await workspace.ingest('other.txt', 'An otter was seen. Nothing else is told here.');

await workspace.ingest('shop.csv', 'Item,Colour,Price\nLantern,green,88\nKettle,copper,42\n');

interface TextHit {
  readonly table?: object;
  readonly item: { readonly id: string; readonly name: string };
  readonly text: string;
  readonly text_from: number;
  readonly text_next: number;
  readonly locator: { readonly char_start: number };
  readonly also?: readonly { readonly locator: object; readonly snippet: string; readonly text?: string }[];
}
async function texts(request: object) {
  const { status, body } = await workspace.search({ query: 'otter', families: ['raw'], ...request });
  t.equal(status, 200);
  return body as { readonly hits: readonly TextHit[]; readonly truncated?: boolean };
}

t.test('without a request hits have no text', async (t) => {
  const { hits, truncated } = await texts({});
  t.ok(hits.every((hit) => hit.text === undefined));
  t.equal(truncated, undefined);
});

t.test('a hit in a table has the row that was asked for', async (t) => {
  const { hits } = await texts({ query: 'copper kettle' });
  t.same(hits[0]!.table, { columns: ['Item', 'Colour', 'Price'], row: ['Kettle', 'copper', '42'] });
  t.equal((await texts({ query: 'otter' })).hits[0]!.table, undefined);
});

t.test('a hit shows its whole passage, and passages that follow each other are one hit', async (t) => {
  const alone = await texts({ passages: 0 });
  t.ok(alone.hits.some(({ text }) => text === 'An otter was seen. Nothing else is told here.'));
  t.ok(alone.hits.every(({ text, text_from, text_next }) => text.length > 40 && text_next > text_from));
  const { hits } = await texts({ query: 'otter heron badger', passages: 10 });
  const long = hits.filter(({ item }) => item.name === 'animals.md');
  t.equal(long.length, 1, 'three neighbouring chapters are one text');
  for (const animal of ['otter', 'heron', 'badger'])
    t.ok(long[0]!.text.includes(`the ${animal} lives in year 1929`), animal);
});

t.test('a hit has the next best passages of its section beside it, unless its text has them', async (t) => {
  const long = ({ hits }: { hits: readonly TextHit[] }) =>
    hits.find(({ item }) => item.name === 'animals.md')!;
  const { also = [], locator } = long(await texts({ query: 'otter' }));
  t.equal(also.length, 2);
  t.match(also[0], { locator: { char_start: Number }, snippet: /the otter lives/, text_source: 'native' });
  t.notSame(also[0]!.locator, locator);
  t.ok(also.every(({ text }) => text === undefined));
  t.equal(long(await texts({ passages: 0 })).also?.length, 2);
  t.equal(long(await texts({ passages: 10 })).also, undefined);
});

t.test('passages around it are those that the text of the item has there', async (t) => {
  const { hits } = await texts({ query: '"heron lives in year 1915"', passages: 1 });
  t.equal(hits.length, 1);
  const { text, text_from, text_next } = hits[0]!;
  t.ok(text_next - text_from >= 2);
  const url = `/items/${ingested.item.id}/text?from=${text_from}`;
  const { passages } = (await workspace.send('GET', url)).body;
  const same = passages.slice(0, text_next - text_from).map((passage: { text: string }) => passage.text);
  t.equal(text, same.join('\n'));
});

t.test('a budget is kept, by whole sentences, the best first', async (t) => {
  const whole = await texts({ max_chars: 100_000 });
  t.equal(whole.truncated, false);
  for (const most of [200, 500, 2_000]) {
    const { hits, truncated } = await texts({ query: 'otter heron badger', max_chars: most, passages: 2 });
    const length = hits.reduce((sum, { text = '' }) => sum + text.length, 0);
    t.ok(length <= most && length > most / 3, `${length} of ${most}`);
    t.equal(truncated, true);
    t.ok(
      hits.every(({ text }) => /[.]$/.test(text)),
      'a text ends with a sentence',
    );
  }
});

t.test(
  'what is cut has the sentences that were asked for, and ends with none that a line wraps',
  async (t) => {
    const wrapped = [
      'A lighthouse keeper lived on the rock with his family and',
      'trimmed the wick every evening. In winter nobody came for weeks,',
      'and the log told of nothing but the wind. The petrel nests in',
      'burrows that it digs below the lamp room. It comes by night.',
    ].join('\n');
    const other = new TestAgent(server.url);
    const rock = await other.rent();
    await rock.ingest('rock.txt', wrapped);
    const { body } = await rock.search({ query: 'where does the petrel nest?', max_chars: 200 });
    t.equal(body.truncated, true);
    t.equal(
      body.hits[0].text,
      'In winter nobody came for weeks,\nand the log told of nothing but the wind. The petrel nests in\nburrows that it digs below the lamp room. It comes by night.',
    );
  },
);

t.test('with several questions each has the budget, and fused all have it together', async (t) => {
  const queries = ANIMALS.map((animal) => `where does the ${animal} live?`);
  const { body } = await workspace.search({ queries, max_chars: 300 });
  for (const { hits, truncated } of body.answers) {
    t.ok(hits.reduce((sum: number, { text = '' }: TextHit) => sum + text.length, 0) <= 300);
    t.equal(truncated, true);
  }
  const fused = (await workspace.search({ queries, max_chars: 300, fused: true })).body;
  t.ok(fused.hits.reduce((sum: number, { text = '' }: TextHit) => sum + text.length, 0) <= 300);
  t.equal(fused.truncated, true);
});
