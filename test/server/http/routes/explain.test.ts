import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import t from 'tap';
import type { HitExplanation } from '../../../../src/protocol/schema/search.ts';
import { startTestServer, TestAgent } from '../../../rig/test-server.ts';

const server = await startTestServer(t);
const workspace = await new TestAgent(server.url).rent();
await workspace.ingest('gulls.txt', 'The lighthouse keeper counts gulls at dawn.');
await workspace.ingest('tides.txt', 'Tides follow the moon.');

/** Sums of a few numbers with six digits after the point each. */
const ROUNDING = 1e-5;

/** The score of a hit by what its explanation says. */
function explainedScore({ lists, kind, base }: HitExplanation): number {
  const own = lists.filter((list) => list.kind === kind);
  return own.reduce((total, { part }) => total + part, base);
}

t.test('an explained search says how each hit was scored', async (t) => {
  const { status, body } = await workspace.search({
    query: 'who counts gulls in the morning?',
    explain: true,
  });
  t.equal(status, 200);
  for (const { score, confidence, explanation } of body.hits) {
    t.ok(Math.abs(score - explainedScore(explanation)) < ROUNDING, 'the score is what the description says');
    const probability = 1 / (1 + Math.exp(-score));
    t.ok(Math.abs(confidence - probability) < ROUNDING, 'confidence is the probability of these log-odds');
  }
  t.match(body.hits[0].explanation.lists, [
    { list: 'text_semantic', family: 'text_semantic', rank: 1, raw_score: Number },
    { list: 'raw_words', family: 'raw', rank: 1, raw_score: Number },
  ]);
});

t.test('a search by picture is explained as well, with and without a near copy in the index', async (t) => {
  const samples = join(import.meta.dirname, '../../../../samples');
  const pictures = await new TestAgent(server.url).rent();
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
