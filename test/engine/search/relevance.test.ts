import t from 'tap';
import { isQuestion } from '../../../src/engine/search/relevance.ts';

t.test('a question is told from a description of a picture', async (t) => {
  const questions = [
    'what temperature for the bread',
    'Who came to look at the heating?',
    'are the dogs allowed',
    'can I keep chickens',
    'is there a spare key',
    'Wo ist der Schlüssel?',
    ' where the food is ',
  ];
  for (const words of questions) t.equal(isQuestion(words), true, words);
  const descriptions = [
    'a cat looking up',
    'can of beans on a shelf',
    'may blossom',
    'whisky in a glass',
    'a sign that says why',
    'do not enter sign',
    '',
  ];
  for (const words of descriptions) t.equal(isQuestion(words), false, words);
});
