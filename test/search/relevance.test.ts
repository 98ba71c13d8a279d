import t from 'tap';
import { isForeign } from '../../src/search/relevance.ts';

t.test('a query is foreign to a model only when its language is known for certain', async (t) => {
  const english = { languages: ['eng'] };
  t.equal(isForeign(english, { language: 'deu', reliable: true }), true);
  t.equal(isForeign(english, { language: 'deu', reliable: false }), false);
  t.equal(isForeign(english, { language: 'eng', reliable: true }), false);
  t.equal(isForeign(english, null), false);
  t.equal(isForeign({}, { language: 'deu', reliable: true }), false, 'a model of every language');
});
