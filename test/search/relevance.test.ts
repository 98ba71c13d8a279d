import t from 'tap';
import { confidenceOf, weightOf } from '../../src/search/relevance.ts';

t.test('confidence rises with the score and stays between 0 and 1', async (t) => {
  for (const kind of ['score', 'log_score', 'share'] as const) {
    const values = [0, 0.2, 0.5, 1, 30].map((score) => confidenceOf({ a: 8, b: -4, of: kind }, score, 30));
    t.strictSame(
      values,
      values.toSorted((a, b) => a - b),
      kind,
    );
    t.ok(values.every((value) => value >= 0 && value <= 1));
  }
});

t.test('a share of the ceiling does not depend on the scale of the scores', async (t) => {
  const calibration = { a: 8, b: -4, of: 'share' as const };
  t.equal(confidenceOf(calibration, 3, 6), confidenceOf(calibration, 30, 60));
  t.equal(confidenceOf(calibration, 3, 6), 0.5);
});

t.test(
  'a list counts less for a language that its model does not know, when the guess is reliable',
  async (t) => {
    const english = { weight: 0.5, languages: ['eng'] };
    const anyLanguage = { weight: 0.5 };
    t.equal(weightOf(english, 0.1, { language: 'deu', reliable: true }), 0.05);
    t.equal(weightOf(english, 0.1, { language: 'deu', reliable: false }), 0.5);
    t.equal(weightOf(english, 0.1, { language: 'eng', reliable: true }), 0.5);
    t.equal(weightOf(english, 0.1, null), 0.5);
    t.equal(weightOf(anyLanguage, 0.1, { language: 'deu', reliable: true }), 0.5);
  },
);
