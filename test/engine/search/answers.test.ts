import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { madeQueries, openAnswers } from './answers/index.ts';
import { goldenQueries, shownAnswer } from './answers/shown.ts';
import '../../rig/teardown-order.ts';

/** Kernels add a vector's products in different orders. */
const TOLERANCE = 1e-5;

/** The places where two answers differ. */
function differences(one: unknown, other: unknown, path = ''): string[] {
  if (typeof one === 'number' && typeof other === 'number')
    return Math.abs(one - other) <= TOLERANCE * Math.max(1, Math.abs(one))
      ? []
      : [`${path}: ${one}, ${other}`];
  if (typeof one !== 'object' || typeof other !== 'object' || !one || !other)
    return one === other ? [] : [`${path}: ${one}, ${other}`];
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].flatMap((name) =>
    differences(one[name as keyof typeof one], other[name as keyof typeof other], `${path}.${name}`),
  );
}

t.test('answers are those that are recorded', async (t) => {
  const answers = await openAnswers(t.testdir());
  t.teardown(() => answers.close());
  const golden = JSON.parse(
    readFileSync(join(import.meta.dirname, 'answers/golden.json'), 'utf8'),
  ) as unknown[];
  const asked = goldenQueries(madeQueries);
  t.equal(asked.length, golden.length);
  for (const [at, { query, measured }] of asked.entries()) {
    const answer = shownAnswer(await answers.answer(query, measured));
    t.same(differences(answer, golden[at]), [], `${at}: ${query.query}`);
  }
});

t.test('an answer begins with a shorter one, and every score has its confidence', async (t) => {
  const answers = await openAnswers(t.testdir());
  t.teardown(() => answers.close());
  for (const query of madeQueries(60)) {
    const all = { ...query, k: 40, min_confidence: 0, explain: true };
    const [few, many] = [await answers.answer({ ...all, k: 7 }), await answers.answer(all)];
    const hits = shownAnswer(many).hits;
    t.same(shownAnswer(few).hits, hits.slice(0, 7));
    for (const [at, { score, confidence, explanation }] of hits.entries()) {
      t.ok(Math.abs(confidence - 1 / (1 + Math.exp(-score))) < 1e-6);
      t.ok(at === 0 || score <= hits[at - 1]!.score);
      const parts = explanation!.lists.reduce((sum, { part }) => sum + part, explanation!.base);
      t.ok(Math.abs(parts - score) < 1e-5, 'the parts add up');
    }
  }
});
