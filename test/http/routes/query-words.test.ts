import t from 'tap';
import type { SearchAnswer } from '../../../src/api/search.ts';
import { startTestServer, TestAgent } from '../../rig/test-server.ts';

/** Slips and quoted phrases, through a whole search with all families. */
const server = await startTestServer(t);
const workspace = await new TestAgent(server.url).rent();
await workspace.ingest('rabbits.txt', 'Fibonacci counted rabbits: each pair bears another pair every month.');
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
  t.match(await search('"gulls grey"'), { hits: [], answered: false, reason: 'nothing_found' });
});

t.test('of several phrases all must be there', async (t) => {
  t.same(found(await search('"lighthouse keeper" "grey gulls"')), ['gulls.txt']);
  t.match(await search('"lighthouse keeper" "grey walls"'), { hits: [], reason: 'nothing_found' });
});

t.test('unbalanced quotes and inch marks are no phrase', async (t) => {
  const all = ['gulls.txt', 'rabbits.txt', 'screws.txt', 'wall.txt'];
  for (const query of ['"gulls grey', 'gulls grey"', '5" screws and 3" nails', '“gulls grey'])
    t.same(found(await search(query)), all, query);
});
