import t from 'tap';
import { FEW_WORKERS, startTestServer, TestAgent } from '../../rig/test-server.ts';

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
    const { url } = await startTestServer(t, FEW_WORKERS);
    const workspace = await new TestAgent(url).rent();
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
