import t from 'tap';
import type { Hit } from '../../../src/client/index.ts';
import { readAddress, writeAddress } from '../../../src/console/model/search/address.ts';
import { asCurl, asTypeScript } from '../../../src/console/model/search/as-code.ts';
import { filterOf } from '../../../src/console/model/search/only.ts';
import { passageIn } from '../../../src/console/model/search/passage.ts';
import { firstOf } from '../../../src/console/model/search/results.ts';

const hit = (name: string, media_type: string, more: object = {}) =>
  ({
    item: { id: `item_${name}`, name, media_type },
    confidence: 0.5,
    family: 'raw',
    locator: {},
    segments: 1,
    ...more,
  }) as unknown as Hit;
const TEXT = hit('a.txt', 'text/plain', { snippet: 'one two' });

t.test('an address says what it was made of, whatever the words', async (t) => {
  const picture = 'ab'.repeat(32);
  for (const query of ['', 'a b', 'c++ & d=e #f %41', '“quoted” / ?', 'ß 日本 \u{1f41d}']) {
    const address = {
      query,
      picture,
      families: ['visual', 'raw'] as const,
      k: 300,
      only: { name: '*.pdf', kind: 'text', from: '2026-11-01', to: '2026-11-27', field: 'a=b' } as const,
      filter: { kind: 'film', item: 'item_1' } as const,
    };
    t.same(readAddress(writeAddress(address)), address, query);
  }
  const plain = { query: 'x', picture: undefined, families: [], k: 30, filter: {} };
  t.equal(writeAddress(plain), '#q=x', 'defaults are left out');
  t.match(readAddress('#q=x'), { ...plain, filter: { kind: undefined, item: undefined } });
});

t.test('an address that is none, or of nonsense, is harmless', async (t) => {
  for (const hash of ['', '#', '#main', '#q=', '#picture=zz', '#k=5'])
    t.equal(readAddress(hash), undefined, hash);
  t.match(readAddress('#q=x&k=1e9&in=shoes,raw&kind=toString&picture=../..'), {
    k: 30,
    families: ['raw'],
    filter: { kind: undefined },
    picture: undefined,
  });
});

t.test('what only some files are to be found by is the API’s filter', async (t) => {
  t.equal(filterOf({}), undefined);
  t.same(filterOf({ name: 'report' }), { name: '*report*' });
  t.same(filterOf({ name: '*.pdf', kind: 'picture' }), { name: '*.pdf', media_type: ['image/*'] });
  t.same(filterOf({ kind: 'text' }), { not: { media_type: ['image/*', 'video/*', 'audio/*'] } });
  t.same(filterOf({ from: '2026-11-27', to: '2026-11-30' }), {
    created_after: new Date(2026, 10, 27).toISOString(),
    created_before: new Date(2026, 11, 1).toISOString(),
  });
  t.same(filterOf({ from: 'soon' }), undefined);
  t.same(filterOf({ field: 'year = 2024' }), { metadata: { year: 2024 } });
  t.same(filterOf({ field: 'draft=false' }), { metadata: { draft: false } });
  t.same(filterOf({ field: 'team=red=blue' }), { metadata: { team: 'red=blue' } });
  t.same(filterOf({ field: 'team' }), { metadata: { team: { exists: true } } });
  const asked = { query: 'x', families: [], k: 30, only: { name: 'a' } };
  const code = { baseUrl: 'http://localhost', workspace: 'ws_1', asked };
  t.match(asCurl(code), '"filter":{"name":"*a*"}');
  t.match(asTypeScript(code), '  filter: {"name":"*a*"},');
});

t.test('a passage is found in its file with its marks, or not at all', async (t) => {
  const found = passageIn('before. one two three. after.', {
    ...TEXT,
    snippet: '…one two three…',
    highlights: [[1, 4]],
  });
  t.same(found, { before: 'before. ', text: 'one two three', after: '. after.', marks: [[0, 3]] });
  t.equal(passageIn('something else', TEXT), undefined);
});

t.test('code quotes what a shell or a string would take apart', async (t) => {
  const of = {
    baseUrl: 'http://127.0.0.1:8402',
    workspace: 'ws_1',
    asked: { query: `it's "so" $HOME`, families: ['raw'] as const, k: 30 },
  };
  t.match(
    asCurl(of),
    String.raw`-d '{"query":"it'\''s \"so\" $HOME","families":["raw"],"k":30,"min_confidence":0.02}'`,
  );
  t.match(asTypeScript(of), String.raw`query: "it's \"so\" $HOME",`);
  const picture = { ...of.asked, query: '', picture: { name: 'a b.png' } as never };
  t.match(asCurl({ ...of, asked: picture }), `base64 -w 0 'a b.png'`);
  t.match(asTypeScript({ ...of, asked: picture }), 'image: await readFile("a b.png"),');
});

t.test('the less likely hits are folded, unless what is like a hit is compared', async (t) => {
  const hits = [true, false, true, false, false, false].map((likely) => ({ likely }) as Hit);
  t.same(
    firstOf({}, hits).map((hit) => hits.indexOf(hit)),
    [0, 2],
  );
  t.same(firstOf({ like: 'item_a' }, hits), hits);
  const unlikely = hits.filter(({ likely }) => !likely);
  t.equal(firstOf({}, unlikely).length, 3, 'of none that is likely the nearest three');
  const older = hits.map(() => ({}) as Hit);
  t.equal(firstOf({}, older).length, 6, 'a server that does not say so');
});

t.test('the order of a search is in its address, and in its code', async (t) => {
  const asked = { query: 'x', families: [], k: 30, order: 'newer' } as const;
  t.match(readAddress(writeAddress({ ...asked, filter: {} })), { order: 'newer' });
  t.equal(readAddress('#q=x&order=toString')!.order, undefined);
  const code = asCurl({ baseUrl: 'http://here', workspace: 'ws_1', asked });
  t.match(code, '"order":{"by":"created_at","decay":{"half_life":30}}');
});
