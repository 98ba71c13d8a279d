import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import t from 'tap';
import type { HitExplanation, SearchAnswer } from '../../../../src/protocol/schema/search.ts';
import { startTestServer, TestAgent } from '../../../rig/test-server.ts';

/** An answer's own verdict: whether it answers, what is proved, how the query was understood, how each hit was scored. */

const server = await startTestServer(t);
const agent = new TestAgent(server.url);
const workspace = await agent.rent();

/** Sums of a few numbers with six digits after the point each. */
const ROUNDING = 1e-5;

/** The score of a hit by what its explanation says. */
function explainedScore({ lists, kind, base }: HitExplanation): number {
  const own = lists.filter((list) => list.kind === kind);
  return own.reduce((total, { part }) => total + part, base);
}

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

  t.test('an explained search says how each hit was scored', async (t) => {
    const { status, body } = await workspace.search({
      query: 'who counts gulls in the morning?',
      explain: true,
    });
    t.equal(status, 200);
    for (const { score, confidence, explanation } of body.hits) {
      t.ok(
        Math.abs(score - explainedScore(explanation)) < ROUNDING,
        'the score is what the description says',
      );
      const probability = 1 / (1 + Math.exp(-score));
      t.ok(Math.abs(confidence - probability) < ROUNDING, 'confidence is the probability of these log-odds');
    }
    t.match(body.hits[0].explanation.lists, [
      { list: 'text_semantic', family: 'text_semantic', rank: 1, raw_score: Number },
      { list: 'raw_words', family: 'raw', rank: 1, raw_score: Number },
    ]);
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

t.test('a word that is nowhere is not answered by the word beside it, wherever it stands', async (t) => {
  const workspace = await agent.rent();
  await workspace.ingest(
    'bakery.txt',
    'The bakery by the quay opens at six and sells rye bread, buns and coffee to the fishermen.',
  );
  await workspace.ingest(
    'quay.txt',
    'The old quay has room for nine boats. A hatch in the floor of the harbour office leads to the cellar.',
  );
  for (const words of ['Zorbinsky bakery', 'Swallowtail quay', 'submarine hatch', 'zorbinsky bakery'])
    for (const query of [words, words.split(' ').reverse().join(' ')]) {
      const { body } = await workspace.search({ query });
      t.match(body, { answered: false, reason: 'unlikely' }, `${query}: ${body.hits[0].confidence}`);
    }
  for (const [query, name] of [
    ['hatch', 'quay.txt'],
    ['harbour office hatch', 'quay.txt'],
    ['when does the bakery open?', 'bakery.txt'],
    ['what can one eat in the morning?', 'bakery.txt'],
  ] as const) {
    const { body } = await workspace.search({ query });
    t.match(body, { answered: true, hits: [{ item: { name } }] }, `${query}: ${body.hits[0].confidence}`);
  }
});

t.test('a number that stands behind the mark of a currency is found, and told as an answer', async (t) => {
  const workspace = await agent.rent();
  await workspace.ingest(
    'invoice.txt',
    'Invoice 4471 of 12 March: one pump, €1,299.00, payable within 30 days.',
  );
  await workspace.ingest('seals.txt', 'Invoice 4473 of 3 April: two seals, €89.50, payable within 14 days.');
  await workspace.ingest(
    'manual.txt',
    'Fill the pump with water before its first start. Clean the filter each month.',
  );
  for (const query of ['1299', 'bare 1299', '€1299', '1,299.00']) {
    const { body } = await workspace.search({ query });
    t.match(
      body,
      { answered: true, hits: [{ item: { name: 'invoice.txt' } }] },
      `${query}: ${body.hits[0].confidence}`,
    );
  }
});

const proved = await agent.rent();

t.test('every answer says for each family whether it is proved', async (t) => {
  await proved.ingest('gulls.txt', 'The lighthouse keeper counts gulls at dawn.');
  const { body } = await proved.search({ query: 'who counts gulls?', families: ['text_semantic', 'raw'] });
  t.equal(body.exact, true);
  t.same(body.bounds, { text_semantic: { exact: true }, raw: { exact: true } });
  const words = await proved.search({ query: 'gulls', families: ['raw'] });
  t.same(words.body.bounds, { raw: { exact: true } });
});

t.test('slips and quoted phrases, through all families', async (t) => {
  const workspace = await agent.rent();
  await workspace.ingest(
    'rabbits.txt',
    'Fibonacci counted rabbits: each pair bears another pair every month.',
  );
  await workspace.ingest(
    'gulls.txt',
    'The lighthouse keeper counts the grey gulls at dawn, by the old harbour wall.',
  );
  await workspace.ingest('wall.txt', 'Grey walls shelter the harbour; gulls nest in the old lighthouse.');
  await workspace.ingest('screws.txt', 'Screws of 5 inches hold the boards; 3" nails hold the roof.');

  const search = async (query: string, more: object = {}): Promise<SearchAnswer> =>
    (await workspace.search({ query, ...more })).body;
  const found = ({ hits }: SearchAnswer) => hits.map(({ item }) => item.name).sort();

  t.test('a query with slips is answered as it was meant, and says so', async (t) => {
    const { corrected, hits, explanation } = await search('Fibbonaci rabits', { explain: true });
    t.equal(corrected, 'fibonacci rabbits');
    t.equal(hits[0]!.item.name, 'rabbits.txt');
    const { snippet, highlights } = hits[0]!;
    const marked = highlights!.map(([start, end]) => snippet!.slice(start, end));
    t.same(marked, ['Fibonacci', 'rabbits'], 'the words that were meant are highlighted');
    const lists = new Map(explanation!.lists.map(({ list, corrected }) => [list, corrected]));
    t.equal(lists.get('raw_words'), corrected);
    t.equal(lists.get('text_semantic'), undefined, 'meaning was asked as it was written');
  });

  t.test('a query without slips, and one that is quoted, is not corrected', async (t) => {
    for (const query of ['Fibonacci rabbits', '"Fibbonaci rabits"', 'rabbits 12345678'])
      t.notOk('corrected' in (await search(query)), query);
  });

  t.test('a quoted phrase binds passages of every family', async (t) => {
    t.same(found(await search('"grey gulls"')), ['gulls.txt']);
    t.same(found(await search('where are "grey gulls" and walls of a harbour?')), ['gulls.txt']);
    t.same(found(await search('“old harbour wall”', { families: ['text_semantic'] })), ['gulls.txt']);
    t.notOk('relaxed' in (await search('"grey gulls"')));
    t.match(await search('"grey gulls" "grey walls"'), {
      hits: [],
      answered: false,
      reason: 'nothing_found',
    });
  });

  t.test('a phrase that stands nowhere is relaxed to its words, and the answer says so', async (t) => {
    for (const families of [['raw'], ['text_semantic'], undefined]) {
      const { hits, relaxed } = await search('"gulls grey" dawn', { families });
      t.same(relaxed, ['gulls grey'], families?.join() ?? 'all');
      t.equal(hits[0]?.item.name, 'gulls.txt', families?.join() ?? 'all');
    }
    const both = await search('“old harbour wall” "wall of the moon"');
    t.same([found(both), both.relaxed], [['gulls.txt'], ['wall of the moon']]);
    const { answers } = await search('', { query: undefined, queries: ['"gulls grey"', 'gulls'] });
    t.same(
      answers!.map(({ relaxed }) => relaxed),
      [['gulls grey'], undefined],
    );
  });

  t.test('words of other languages are no slips', async (t) => {
    const workspace = await agent.rent();
    await workspace.ingest(
      'urlaub.txt',
      'Die Hütte liegt hoch, man darf dort im Gras liegen und im See baden. Wir fahren mit Familie Oberhauser.',
    );
    for (const query of ['Darf ich dort fliegen?', 'Wo kann ich heute graben?'])
      t.notOk('corrected' in (await workspace.search({ query })).body, query);
    t.match((await workspace.search({ query: 'Wer ist Oberhuaser?' })).body, {
      corrected: 'Wer ist oberhauser?',
    });
  });
});

/** Texts, each with a query that writes a word or number in another way, and what of the text is marked. */
const CASES: readonly (readonly [name: string, text: string, query: string, marked: string])[] = [
  [
    'shy',
    'Der Unter\u00adnehmens\u00adgründer aus Kyritz bekommt Geld.',
    'Unternehmensgründer',
    'Unter\u00adnehmens\u00adgründer',
  ],
  ['seam', 'The name inside is Bram\u200bble, of Tenby.', 'Bramble', 'Bramble'],
  ['tatweel', 'المكتـــبة الكبيرة مغلقة يوم الجمعة.', 'المكتبة', 'المكتـــبة'],
  ['arabic digits', 'وصلت السفينة رقم ٤٧٣١ إلى ميناء بندر في الربيع.', '4731', '٤٧٣١'],
  [
    'persian',
    'کتاب\u200cهای قدیمی در کتابخانهٔ شهر نگهداری می\u200cشوند و شمارهٔ آن\u200cها ۸۸۲۶ است.',
    '8826',
    '۸۸۲۶',
  ],
  ['han', '臺灣的圖書館收藏了許多舊地圖。', '图书馆', '圖書館圖'],
  ['price', 'The Orkney quilt costs €1,299.00 or £1.1k.', 'quilt 1299', 'quilt1,299.00'],
  ['german', 'Die Gemeinde Wunsiedel hat 3.918.277,45 Kronen in der Kasse.', '3918277.45', '3.918.277,45'],
  [
    'spaces',
    'The parish of Lanhydrock has 1\u00a0204\u00a0500 bricks in store.',
    '1204500',
    '1\u00a0204\u00a0500',
  ],
  ['plain', 'The florist on Juniper Lane answers at 02079460018 all day.', '+44 20 7946 0018', '02079460018'],
  [
    'spaced',
    'The night porter of the Grenadier hotel answers at +49 30 5557 0142 until two.',
    '03055570142',
    '49 30 5557 0142',
  ],
];

t.test(
  'what is written in another way is found first, answers, and is marked as it is written',
  async (t) => {
    const workspace = await agent.rent();
    for (const [name, text] of CASES)
      t.equal((await workspace.ingest(`${name}.txt`, text)).status, 200, name);
    for (const [name, , query, marked] of CASES) {
      const { body } = await workspace.search({ query });
      const [{ item, snippet, highlights }] = body.hits;
      t.equal(item.name, `${name}.txt`, name);
      t.equal(body.answered, true, `${name} answers`);
      const shown = highlights.map(([from, to]: [number, number]) => snippet.slice(from, to)).join('');
      t.equal(shown, marked, `${name} is marked`);
    }
  },
);

t.test('a search by picture is explained as well, with and without a near copy in the index', async (t) => {
  const samples = join(import.meta.dirname, '../../../../samples');
  const pictures = await agent.rent();
  for (const name of ['coffee.png', 'rocket.jpg', 'chelsea.png'])
    await pictures.ingest(name, readFileSync(join(samples, name)));
  await pictures.ingest('coffee.txt', 'A cup of coffee stands on the table.');
  const copy = await sharp(join(samples, 'coffee.png')).resize(300).jpeg().toBuffer();
  for (const [image, first] of [
    [copy, 'raw'],
    [readFileSync(join(samples, 'hot_dog.jpg')), 'visual'],
  ] as const) {
    const request = { image_b64: image.toString('base64'), explain: true };
    for (const query of [undefined, 'a cup of coffee']) {
      const { body } = await pictures.search({ ...request, query });
      t.ok(body.hits.length >= 3);
      for (const { score, explanation } of body.hits)
        t.ok(Math.abs(score - explainedScore(explanation)) < ROUNDING, `${score}`);
      if (query === undefined) t.equal(body.hits[0].family, first);
    }
  }
});
