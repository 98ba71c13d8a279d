import t from 'tap';
import { startTestServer, TestAgent } from '../../rig/test-server.ts';

const server = await startTestServer(t);
const agent = new TestAgent(server.url);
const workspace = await agent.rent();

t.test('an index with nothing in it says so', async (t) => {
  const { body } = await workspace.search({ query: 'gulls' });
  t.match(body, { hits: [], answered: false, reason: 'nothing_searchable' });
});

t.test('with files in it', async (t) => {
  await workspace.ingest('gulls.txt', 'The lighthouse keeper counts gulls at dawn.');
  await workspace.ingest('tides.txt', 'Tides follow the moon.');
  await workspace.ingest('bread.txt', 'Knead the dough for ten minutes and let it rise twice.');

  t.test('a hit that is likely to answer answers', async (t) => {
    const { body } = await workspace.search({ query: 'who counts gulls at dawn?' });
    t.match(body, { answered: true, hits: [{ item: { name: 'gulls.txt' } }] });
    t.notOk('reason' in body);
    t.ok(body.hits[0].confidence >= 0.5, `${body.hits[0].confidence}`);
  });

  t.test('nonsense is not answered, and nothing is left out unasked', async (t) => {
    const { body } = await workspace.search({ query: 'zxqv blorp' });
    t.match(body, { answered: false, reason: 'unlikely' });
    t.equal(body.hits.length, 3);
  });

  t.test('words that no file has are not found by words', async (t) => {
    const { body } = await workspace.search({ query: 'submarine', families: ['raw'] });
    t.match(body, { hits: [], answered: false, reason: 'nothing_found' });
  });

  t.test('min_confidence leaves hits out, and changes nothing else', async (t) => {
    const query = 'gulls at dawn';
    const { body: all } = await workspace.search({ query });
    const floor = all.hits[0].confidence;
    const { body: one } = await workspace.search({ query, min_confidence: floor });
    t.equal(one.hits.length, 1);
    t.same(one.hits[0], all.hits[0]);
    const { body: none } = await workspace.search({ query: 'zxqv blorp', min_confidence: 1 });
    t.match(none, { hits: [], answered: false, reason: 'unlikely' });
    for (const wrong of [-0.1, 1.1, 'half']) {
      const { status, body } = await workspace.search({ query, min_confidence: wrong });
      t.match({ status, body }, { status: 400, body: { code: 'field_invalid', field: 'min_confidence' } });
    }
  });

  t.test('neither k nor exact changes what is said of a hit', async (t) => {
    const query = 'tides and the moon';
    const { body: usual } = await workspace.search({ query });
    for (const change of [{ k: 1 }, { k: 1000 }, { exact: true }]) {
      const { body } = await workspace.search({ query, ...change });
      t.same(body.hits[0], usual.hits[0], JSON.stringify(change));
    }
  });
});

t.test('what is named and is nowhere is not answered by its relatives', async (t) => {
  const files = {
    'invoice.txt':
      'Invoice RE-2026-0417 of 2026-03-12 for one pump XK-200-B, 4 bar. Account 55-20931. Questions: accounting@nordlicht.example, +49 431 5567788.',
    'manual.txt':
      'The XK-200-B: fill the pump with water before its first start. Firmware v2.3.0 counts hours.',
    'lighthouse.txt': 'The lighthouse on Vestra Holm has a tower of granite that is 31 metres tall.',
    'report-2024.txt': 'Sales of pumps rose by a tenth in the north and fell in the south.',
  };
  const workspace = await agent.rent();
  for (const [name, text] of Object.entries(files)) await workspace.ingest(name, text);
  for (const query of [
    'XK-300',
    'pump XK-300',
    'RE-2026-0499',
    'halvorsen@nordlicht.example',
    '2026-03-14',
    'v2.4.1',
    '+49 431 5567799',
    'report-2025.txt',
    '3f2b8c1e-9a4d-4e5f-8b6a-7c2d1e0f9a8b',
    'how tall is the Eiffel tower',
  ]) {
    const { body } = await workspace.search({ query });
    t.match(body, { answered: false, reason: 'unlikely' }, `${query}: ${body.hits[0]?.confidence}`);
  }
  for (const [query, name] of [
    ['XK-200-B pump water', 'manual.txt'],
    ['RE-2026-0417', 'invoice.txt'],
    ['accounting@nordlicht.example', 'invoice.txt'],
    ['12.03.2026', 'invoice.txt'],
    ['firmware v2.3.0', 'manual.txt'],
    ['5567788', 'invoice.txt'],
    ['how tall is the lighthouse on Vestra Holm', 'lighthouse.txt'],
  ] as const) {
    const { body } = await workspace.search({ query });
    t.match(body, { answered: true, hits: [{ item: { name } }] }, `${query}: ${body.hits[0]?.confidence}`);
  }
});
