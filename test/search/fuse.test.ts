import { isDeepStrictEqual } from 'node:util';
import t from 'tap';
import { fuse as fuseLists, type ScoredList } from '../../src/search/fuse.ts';
import { fusePlainly } from './plain-fusion.ts';

const list = (
  family: ScoredList['family'],
  kind: ScoredList['kind'],
  ranked: readonly (readonly [number, number])[],
  rest: Partial<ScoredList> = {},
): ScoredList => ({
  name: kind === 'pictures' ? 'visual_picture' : 'text_semantic',
  family,
  kind,
  weight: 0.5,
  segments: Uint32Array.from(ranked, ([segment]) => segment),
  scores: Float32Array.from(ranked, ([, score]) => score),
  places: Uint32Array.from(ranked, ([segment]) => segment),
  confidence: (score) => Math.min(1, Math.max(0, score)),
  ...rest,
});
const itself = (segment: number) => segment;
const fuse = (
  lists: readonly ScoredList[],
  placeOf: (segment: number) => number,
  limits: { k: number; depth: number; explain?: boolean },
) =>
  fuseLists(
    lists.map((one) => ({ ...one, places: one.segments.map(placeOf) })),
    limits,
  );
const options = { k: 10, depth: 100 };

t.test('a place that two lists agree on comes before the best of one of them', async (t) => {
  const meaning = list('text_semantic', 'passages', [
    [1, 0.9],
    [2, 0.85],
    [3, 0.1],
  ]);
  const words = list('raw', 'passages', [
    [4, 12],
    [2, 11],
    [3, 1],
  ]);
  t.same(
    fuse([meaning, words], itself, options).map(({ segment }) => segment),
    [2, 1, 4, 3],
  );
});

t.test('Segments of one place are one hit with the best of them and their number', async (t) => {
  const meaning = list('text_semantic', 'passages', [
    [7, 0.9],
    [8, 0.8],
    [20, 0.5],
  ]);
  const words = list('raw', 'passages', [
    [9, 5],
    [20, 1],
  ]);
  const [first, second] = fuse([meaning, words], (segment) => (segment < 10 ? 0 : 1), options);
  t.match(first, { segment: 7, segments: 3, family: 'text_semantic' });
  t.match(second, { segment: 20, segments: 1 });
});

t.test('equal scores are ordered by insertion', async (t) => {
  const ranked = list('raw', 'passages', [
    [5, 1],
    [3, 1],
    [9, 1],
  ]);
  t.same(
    fuse([ranked], itself, options).map(({ segment }) => segment),
    [3, 5, 9],
  );
});

t.test('the best picture of a poor lot does not outrank a good passage', async (t) => {
  const meaning = list('text_semantic', 'passages', [
    [1, 0.8],
    [2, 0.2],
  ]);
  const pictures = list('visual', 'pictures', [
    [3, 0.15],
    [4, 0.1],
  ]);
  t.same(fuse([pictures, meaning], itself, options).map(({ segment }) => segment)[0], 1);
});

t.test('a list that found nothing takes no share from one that did', async (t) => {
  const meaning = list('text_semantic', 'passages', [
    [1, 0.6],
    [2, 0.2],
  ]);
  const words = list('raw', 'passages', []);
  const pictures = list('visual', 'pictures', [
    [3, 0.5],
    [4, 0.1],
  ]);
  const [first] = fuse([meaning, words, pictures], itself, options);
  t.match(first, { segment: 1 }, 'the surer of the two kinds');
  t.same(
    fuse([meaning, words, pictures], itself, options),
    fuse([meaning, pictures], itself, options),
    'as if it had not been asked',
  );
});

t.test('a near-identical picture outranks every likeness, and no match changes nothing', async (t) => {
  const likeness = list(
    'visual',
    'pictures',
    [
      [1, 0.99],
      [2, 0.5],
      [3, 0.4],
    ],
    { weight: 1 },
  );
  const identical = list('raw', 'pictures', [[3, 0.95]], { nearIdentical: true });
  const [first, second] = fuse([likeness, identical], itself, options);
  t.match(first, { segment: 3, family: 'raw' });
  t.match(second, { segment: 1, family: 'visual' });
  const none = list('raw', 'pictures', [], { nearIdentical: true });
  const passages = list('text_semantic', 'passages', [
    [11, 0.95],
    [12, 0.2],
  ]);
  t.same(
    fuse([passages, likeness, none], itself, options),
    fuse([passages, likeness], itself, options),
    'scores too, and what stands before what',
  );
});

t.test('k counts folded hits, and scores never rise down the list', async (t) => {
  const ranked = list(
    'raw',
    'passages',
    Array.from({ length: 50 }, (_, index) => [index, 50 - index] as const),
  );
  const fused = fuse([ranked], (segment) => Math.floor(segment / 5), { k: 4, depth: 100 });
  t.equal(fused.length, 4);
  t.ok(fused.every(({ score }, index) => index === 0 || score <= fused[index - 1]!.score));
});

t.test('confidence stays within 0..1 and no score is above 1', async (t) => {
  const fused = fuse(
    [
      list('text_semantic', 'passages', [
        [1, 0.9],
        [2, -0.3],
      ]),
      list('raw', 'passages', [[1, 30]]),
    ],
    itself,
    options,
  );
  for (const { confidence, score } of fused)
    t.ok(confidence >= 0 && confidence <= 1 && score >= 0 && score <= 1);
});

t.test('random lists give exactly what the plain formula gives, and their explanation adds up', async (t) => {
  let state = 7;
  const random = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return Math.floor((state / 0x80000000) * below);
  };
  const placeOf = (segment: number) => segment - (segment % 3);
  const randomList = (kind: ScoredList['kind'], nearIdentical: boolean): ScoredList => {
    const segments = new Set(Array.from({ length: random(60) }, () => random(120)));
    const scores = [...segments].map(() => random(40) / 40).sort((a, b) => b - a);
    const from = kind === 'passages' ? 0 : 1_000;
    const ranked = [...segments].map((segment, index) => [segment + from, scores[index]!] as const);
    const family = nearIdentical ? 'raw' : kind === 'passages' ? 'text_semantic' : 'visual';
    return list(family, kind, ranked, { nearIdentical, weight: random(3) / 2 });
  };
  let rounds = 0;
  for (let round = 0; round < 300; round += 1) {
    const lists = [
      randomList('passages', false),
      randomList('passages', false),
      randomList('pictures', false),
      ...(random(2) === 0 ? [randomList('pictures', true)] : []),
    ];
    const limits = { k: 1 + random(40), depth: 1 + random(50) };
    const [found, expected] = [fuse(lists, placeOf, limits), fusePlainly(lists, placeOf, limits)];
    if (!isDeepStrictEqual(found, expected)) t.same(found, expected, `round ${round}`);
    const explained = fuse(lists, placeOf, { ...limits, explain: true });
    for (const [index, { score, explanation }] of explained.entries()) {
      const parts = explanation!.lists.filter(({ kind }) => kind === explanation!.kind);
      const sum = parts.reduce((total, { scaled, share }) => total + scaled * share, 0);
      if (score !== found[index]!.score || Math.abs(score - explanation!.kind_confidence * sum) > 1e-12)
        t.fail(`round ${round}: hit ${index} is not what its explanation says`, { explanation, score });
    }
    rounds += 1;
  }
  t.equal(rounds, 300);
});

t.test('a page found by its text is not outranked by one whose look is added to a worse text', async (t) => {
  const meaning = list('text_semantic', 'passages', [
    [1, 0.9],
    [2, 0.6],
    [3, 0.3],
  ]);
  const looks = list('visual', 'pictures', [
    [12, 0.5],
    [13, 0.1],
  ]);
  const [first] = fuse([meaning, looks], (segment) => segment % 10, options);
  t.match(first, { segment: 1, family: 'text_semantic' });
});
