import t from 'tap';
import { snippetOf } from '../../src/search/snippet.ts';

function marked(passage: string, query?: string): string[] {
  const { snippet, highlights } = snippetOf(passage, query);
  return highlights.map(([start, end]) => snippet.slice(start, end));
}

t.test('words of the query are marked, in capitals and with other endings too', async (t) => {
  t.same(marked('The Keepers counted gulls; a gull was counted twice.', 'keeper counts GULL'), [
    'Keepers',
    'counted',
    'gulls',
    'gull',
    'counted',
  ]);
  t.same(marked('Reading is fun', 'readability'), [], 'a shared start alone is not enough');
});

t.test('a long passage is shown where most of the words are', async (t) => {
  const passage = `${'Nothing of interest here. '.repeat(30)}The tide turned at noon and the boats came home. ${'More of it. '.repeat(40)}`;
  const { snippet } = snippetOf(passage, 'when did the tide turn and boats come home');
  t.match(snippet, /^….*tide turned at noon.*…$/s);
  t.ok(snippet.length <= 325);
  t.same(marked(passage, 'tide boats'), ['tide', 'boats']);
});

t.test('scripts without spaces are marked by character, and pairs are never cut', async (t) => {
  t.same(marked('灯台守は鳥を数える', '鳥'), ['鳥']);
  const { snippet } = snippetOf('😀'.repeat(400), 'x');
  t.notMatch(snippet, /[\ud800-\udbff](?![\udc00-\udfff])/);
});

t.test('without a query, or for letters that change their length, offsets stay true', async (t) => {
  t.same(snippetOf('Words.', undefined), { snippet: 'Words.', highlights: [] });
  t.same(marked('İstanbul has ferries', 'ferries'), ['ferries']);
});
