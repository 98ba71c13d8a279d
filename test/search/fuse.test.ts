import t from 'tap';
import { LISTS, type ListName } from '../../src/domain/family.ts';
import { type EvidenceList, evidenceOf } from '../../src/search/evidence.ts';
import { fuse as fuseEvidence } from '../../src/search/fuse.ts';
import type { ServedList } from '../../src/search/lists.ts';
import type { Rating } from '../../src/shard/snapshot.ts';

/** Scores of every Segment that a list knows; only the first `read` of them are in the list. */
interface Known {
  readonly scores: ReadonlyMap<number, number>;
  readonly held?: ReadonlyMap<number, number>;
  readonly lacks?: ReadonlyMap<number, number>;
  /** Segments that have every word as it is written. */
  readonly written?: readonly number[];
  readonly information?: number;
  readonly sample?: Rating['sample'];
  readonly foreign?: boolean;
  readonly read?: number;
  readonly notes?: readonly number[];
}

const SETTINGS: Partial<Record<ListName, Partial<ServedList>>> = {
  text_semantic: {
    weight: 0.2,
    curve: { bias: -3, slope: 8, cosine: 3, gap: 1 },
    with_words: { bias: -3, slope: 5, gap: 3, held: 1.2, lacks: -2, written: 1, agreement: 0.9 },
  },
  raw_words: { weight: 1, whole: 1, curve: { bias: -4, slope: 6, gap: 4, held: 1.3 } },
  visual_words: { weight: 1, calibration: { a: 11, b: -7 } },
  visual_picture: { weight: 1, calibration: { a: 19, b: -13 } },
  raw_picture: { weight: 1 },
};

type NumberOf = (segment: number) => number;

function list(
  name: ListName,
  placeOf: NumberOf,
  known: Known,
  momentOf = placeOf,
  sizeOf: NumberOf = () => 0,
): EvidenceList {
  const { scores, held, lacks, written = [], information = 10, foreign = false, notes = [] } = known;
  const { sample = { count: 1000, mean: 0.1, deviation: 0.1 } } = known;
  const ranked = [...scores].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, known.read);
  const segments = Uint32Array.from(ranked, ([segment]) => segment);
  const rate = (asked: Uint32Array): Rating => ({
    scores: Float32Array.from(
      asked,
      (segment) => scores.get(segment) ?? (name === 'raw_words' ? 0 : Number.NaN),
    ),
    held: Float32Array.from(asked, (segment) => held?.get(segment) ?? 0),
    lacks: Float32Array.from(asked, (segment) => lacks?.get(segment) ?? 0),
    written: new Map(
      written.map((segment) => [
        segment,
        { place: placeOf(segment), moment: momentOf(segment), size: sizeOf(segment), note: false },
      ]),
    ),
    information,
    sample,
  });
  return {
    list: { name, traits: LISTS[name], weight: 1, ...SETTINGS[name] },
    ranking: {
      segments,
      scores: Float32Array.from(ranked, ([, score]) => score),
      places: Uint32Array.from(
        [...segments].flatMap((segment) => [
          placeOf(segment),
          momentOf(segment),
          sizeOf(segment),
          Number(notes.includes(segment)),
        ]),
      ),
      exact: true,
      method: 'proved',
      scanned: ranked.length,
      rescored: 0,
      ceiling: 0,
    },
    ...(name !== 'raw_picture' && { rate }),
    foreign,
  };
}

const itself = (segment: number) => segment;
const scores = (...pairs: readonly (readonly [number, number])[]) => new Map(pairs);

function fuse(
  known: Partial<Record<ListName, Known>>,
  {
    placeOf = itself,
    momentOf = placeOf,
    sizeOf,
    k = 10,
    depth = 100,
    minConfidence,
    describesNone = false,
    asks = false,
  }: {
    placeOf?: NumberOf;
    momentOf?: NumberOf;
    sizeOf?: NumberOf;
    k?: number;
    depth?: number;
    minConfidence?: number;
    describesNone?: boolean;
    asks?: boolean;
  } = {},
) {
  const lists = (Object.keys(known) as ListName[]).map((name) =>
    list(name, placeOf, known[name]!, momentOf, sizeOf),
  );
  return fuseEvidence(evidenceOf(lists, depth), new Map(lists.map(({ list }) => [list.name, list])), {
    k,
    minConfidence,
    explain: true,
    query: { segments: 1000, describesNone, asks },
    unknownLanguageShare: 0.2,
  });
}

t.test('a place that two lists agree on comes before the best of one of them', async (t) => {
  const fused = fuse({
    text_semantic: { scores: scores([1, 0.72], [2, 0.7], [3, 0.1], [4, 0.1]) },
    raw_words: { scores: scores([4, 12], [2, 11], [3, 1]) },
  });
  t.equal(fused[0]!.segment, 2);
});

t.test('every exact hit stands before likenesses, not the first alone', async (t) => {
  const likenesses = Array.from({ length: 60 }, (_, at) => [100 + at, 0.35 - at / 1000] as const);
  const fused = fuse(
    {
      text_semantic: { scores: scores(...likenesses, [1, 0.1], [2, 0.05]) },
      raw_words: { scores: scores([1, 9], [2, 6]), held: scores([1, 1], [2, 1]) },
    },
    { k: 30 },
  );
  t.same(
    fused.slice(0, 2).map(({ segment, family }) => [segment, family]),
    [
      [1, 'raw'],
      [2, 'raw'],
    ],
  );
});

t.test(
  'rare words as they are written come before other forms and likenesses, though no list names them',
  async (t) => {
    const forms = Array.from({ length: 20 }, (_, at) => [10 + at, 12 - at / 10] as const);
    const fused = fuse(
      {
        text_semantic: { scores: scores([10, 0.9], [50, 0.95], [1, 0.1], [2, 0.05]), read: 2 },
        raw_words: {
          scores: scores(...forms, [1, 5], [2, 4]),
          held: scores(...forms.map(([segment]) => [segment, 1] as const), [1, 1], [2, 1]),
          written: [1, 2],
          read: 15,
        },
      },
      { k: 30 },
    );
    t.same(
      fused.slice(0, 2).map(({ segment }) => segment),
      [1, 2],
    );
    for (const { score, explanation } of fused) {
      const parts = explanation!.lists.reduce((sum, { part }) => sum + part, explanation!.base);
      t.ok(Math.abs(parts - score) < 1e-9, 'the parts still add up');
    }
  },
);

t.test('neither k nor the depth of lists changes what is said of a hit', async (t) => {
  const meaning = scores(...Array.from({ length: 80 }, (_, at) => [at, 0.6 - at / 200] as const));
  const words = scores(...Array.from({ length: 80 }, (_, at) => [(at * 37) % 80, 12 - at / 10] as const));
  const at = (depth: number, k: number) =>
    fuse({ text_semantic: { scores: meaning }, raw_words: { scores: words } }, { depth, k });
  const [few, all] = [at(40, 3), at(80, 80)];
  t.same(
    few.map(({ segment, score }) => ({ segment, score })),
    all.slice(0, 3).map(({ segment, score }) => ({ segment, score })),
  );
});

t.test('confidence is the probability of the score, and neither rises down the list', async (t) => {
  const fused = fuse({
    text_semantic: { scores: scores([1, 0.7], [2, 0.5], [3, 0.2], [9, 0.3]) },
    raw_words: { scores: scores([3, 8], [2, 4]), held: scores([3, 0.5], [2, 0.3]) },
    visual_words: { scores: scores([20, 0.7], [21, 0.4]) },
  });
  t.equal(fused.length, 6);
  for (const [index, { score, confidence }] of fused.entries()) {
    t.equal(confidence, 1 / (1 + Math.exp(-score)));
    t.ok(index === 0 || score <= fused[index - 1]!.score);
  }
});

t.test('the parts of an explanation add up to the score', async (t) => {
  const fused = fuse(
    {
      text_semantic: { scores: scores([1, 0.7], [2, 0.5], [3, 0.2]) },
      raw_words: { scores: scores([3, 8], [2, 4]), held: scores([3, 1]) },
      visual_words: { scores: scores([11, 0.6], [20, 0.4]) },
      visual_picture: { scores: scores([20, 0.95], [21, 0.9], [11, 0.2]) },
      raw_picture: { scores: scores([21, 0.97]) },
    },
    { placeOf: (segment) => segment % 10 },
  );
  for (const { score, explanation } of fused) {
    const own = explanation!.lists.filter(({ kind }) => kind === explanation!.kind);
    const sum = own.reduce((total, { part }) => total + part, explanation!.base);
    t.ok(Math.abs(score - sum) < 1e-9, `${score}`);
  }
});

t.test('Segments of one place are one hit with the best of them and their number', async (t) => {
  const [first, second] = fuse(
    {
      text_semantic: { scores: scores([7, 0.9], [8, 0.8], [20, 0.3]) },
      raw_words: { scores: scores([9, 5], [20, 1]) },
    },
    { placeOf: (segment) => (segment < 10 ? 0 : 1) },
  );
  t.match(first, { segments: 3 });
  t.match(second, { segment: 20, segments: 1 });
});

t.test('equal scores are ordered by insertion', async (t) => {
  const fused = fuse({ raw_words: { scores: scores([5, 1], [3, 1], [9, 1]) } });
  t.same(
    fused.map(({ segment }) => segment),
    [3, 5, 9],
  );
});

t.test('the best of many poor pictures does not outrank a good passage', async (t) => {
  const poor = Array.from({ length: 50 }, (_, at) => [100 + at, 0.3 - at / 1000] as const);
  const [first] = fuse({
    text_semantic: { scores: scores([1, 0.8], [2, 0.2]) },
    raw_words: { scores: scores([1, 12]), held: scores([1, 0.8]) },
    visual_words: { scores: scores(...poor) },
  });
  t.equal(first!.segment, 1);
});

t.test('a near-identical picture outranks every likeness, and no match changes nothing', async (t) => {
  const likeness = { scores: scores([1, 1], [2, 0.5], [3, -0.2]) };
  const [first, second] = fuse({ visual_picture: likeness, raw_picture: { scores: scores([3, 0.85]) } });
  t.match(first, { segment: 3, family: 'raw' });
  t.match(second, { segment: 1, family: 'visual' });
  const shown = (fused: ReturnType<typeof fuse>) => fused.map(({ segment, score }) => [segment, score]);
  t.same(
    shown(fuse({ visual_picture: likeness, raw_picture: { scores: scores() } })),
    shown(fuse({ visual_picture: likeness })),
  );
});

t.test('of near-identical pictures the nearer is first', async (t) => {
  const fused = fuse({
    visual_picture: { scores: scores([1, 0.5], [2, 0.99]) },
    raw_picture: { scores: scores([1, 1], [2, 0.9]) },
  });
  t.equal(fused[0]!.segment, 1);
});

t.test('a page found by its text is not helped by its look', async (t) => {
  const meaning = { scores: scores([1, 0.7], [2, 0.6]) };
  const placeOf = (segment: number) => segment % 10;
  const [alone] = fuse({ text_semantic: meaning }, { placeOf });
  const [first] = fuse({ text_semantic: meaning, visual_words: { scores: scores([11, 0.1]) } }, { placeOf });
  t.equal(first!.score, alone!.score);
});

t.test('a list counts less where its model does not know the language', async (t) => {
  const known = (foreign: boolean) => ({
    text_semantic: { scores: scores([1, 0.9], [2, 0.3]), foreign },
    raw_words: { scores: scores([2, 9], [1, 3]) },
  });
  t.equal(fuse(known(false))[0]!.segment, 1);
  t.equal(fuse(known(true))[0]!.segment, 2);
});

t.test('a first place that lacks what the query names is believed less, and changes no order', async (t) => {
  const known = (share: number) => ({
    text_semantic: { scores: scores([1, 0.6], [2, 0.3]) },
    raw_words: {
      scores: scores([1, 3], [2, 1]),
      held: scores([1, 0.2]),
      lacks: scores([1, share], [2, share]),
    },
  });
  const [with0, with5, with9] = [0, 0.5, 0.9].map((share) => fuse(known(share)));
  t.same(
    [with0, with5, with9].map((fused) => fused!.map(({ segment }) => segment)),
    [0, 1, 2].map(() => [1, 2]),
  );
  t.ok(with0![0]!.confidence > with5![0]!.confidence && with5![0]!.confidence > with9![0]!.confidence);
});

t.test('agreement is asked of meaning only where its model knows the language', async (t) => {
  const base = (foreign: boolean) => {
    const [first] = fuse({
      text_semantic: { scores: scores([1, 0.4], [2, 0.6]), foreign },
      raw_words: { scores: scores([1, 9], [2, 1]), held: scores([1, 1]) },
    });
    t.equal(first!.segment, 1);
    return first!.confidence;
  };
  t.ok(base(true) > base(false), `${base(true)} and ${base(false)}`);
});

t.test('a list without a measured curve orders, and is believed little', async (t) => {
  const placeOf = itself;
  const meaning = list('text_semantic', placeOf, { scores: scores([1, 0.95], [2, 0.5]) });
  const { curve: _, with_words: __, ...unmeasured } = meaning.list;
  const lists = [{ ...meaning, list: unmeasured }];
  const fused = fuseEvidence(evidenceOf(lists, 100), new Map([[unmeasured.name, unmeasured]]), {
    k: 10,
    query: { segments: 1000, describesNone: false },
    unknownLanguageShare: 0.2,
  });
  t.same(
    fused.map(({ segment }) => segment),
    [1, 2],
  );
  t.ok(fused[0]!.confidence < 0.6, `${fused[0]!.confidence}`);
});

t.test('k counts folded hits, and less likely ones are left out on request', async (t) => {
  const many = scores(...Array.from({ length: 50 }, (_, at) => [at, 50 - at] as const));
  const placeOf = (segment: number) => Math.floor(segment / 5);
  t.equal(fuse({ raw_words: { scores: many } }, { placeOf, k: 4 }).length, 4);
  const all = fuse({ raw_words: { scores: many } }, { placeOf });
  const minConfidence = all[2]!.confidence;
  t.same(fuse({ raw_words: { scores: many } }, { placeOf, minConfidence }), all.slice(0, 3));
});

t.test('a film is one hit with its other moments, best first', async (t) => {
  // Segments 100 to 199 are a film's frames, 50 to 59 its subtitles, one for every ten frames.
  const isFilm = (segment: number) => segment >= 50;
  const placeOf = (segment: number) => (isFilm(segment) ? 50 : segment);
  const momentOf = (segment: number) => (segment >= 100 ? 50 + Math.floor((segment - 100) / 10) : segment);
  const frames = Array.from({ length: 100 }, (_, at) => [100 + at, 0.6 - at / 500] as const);
  const known = {
    visual_words: { scores: scores(...frames, [1, 0.5], [2, 0.3]) },
    raw_words: { scores: scores([57, 9], [3, 8]), held: scores([57, 1], [3, 0.9]) },
  };
  const fused = fuse(known, { placeOf, momentOf });
  const film = fused.find(({ segment }) => isFilm(segment))!;
  t.same(fused.map(({ segment }) => (isFilm(segment) ? 50 : segment)).sort(), [1, 2, 3, 50]);
  t.equal(film.segment, 57, 'the subtitle is the likeliest');
  t.same(
    film.moments.slice(0, 3).map(({ segment }) => segment),
    [100, 110, 120],
    'the best frame of each shot, and the shot of the subtitle once',
  );
  t.equal(film.segments, 101);
  for (const [at, { confidence }] of film.moments.entries())
    t.ok(confidence <= (film.moments[at - 1] ?? film).confidence);
  const minConfidence = film.moments[1]!.confidence;
  const [likely] = fuse(known, { placeOf, momentOf, minConfidence });
  t.ok(likely!.moments.every(({ confidence }) => confidence >= minConfidence));
});

t.test('moments of one film take nothing from each other, and k counts films', async (t) => {
  const placeOf = (segment: number) => (segment < 10 ? 0 : segment);
  const alone = { visual_words: { scores: scores([1, 0.7], [20, 0.2]) } };
  const often = { visual_words: { scores: scores([1, 0.7], [2, 0.69], [3, 0.68], [20, 0.2]) } };
  const [first] = fuse(alone, { placeOf, momentOf: itself });
  const both = fuse(often, { placeOf, momentOf: itself, k: 2 });
  t.equal(both[0]!.score, first!.score);
  t.same(
    both.map(({ segment }) => segment),
    [1, 20],
  );
  const words = { scores: scores([1, 9], [2, 8.9], [20, 3]), held: scores([1, 1], [2, 1], [20, 0.3]) };
  const few = { scores: scores([1, 9], [20, 3]), held: scores([1, 1], [20, 0.3]) };
  const score = (raw_words: Known) => fuse({ raw_words }, { placeOf, momentOf: itself })[0]!.score;
  t.equal(score(words), score(few), 'nor do its subtitles');
});

t.test('a list names its first places, whatever the moments of a film before them', async (t) => {
  const placeOf = (segment: number) => (segment < 500 ? 0 : segment);
  const frames = Array.from({ length: 500 }, (_, at) => [at, 0.9 - at / 5000] as const);
  const others = Array.from({ length: 60 }, (_, at) => [500 + at, 0.5 - at / 1000] as const);
  const fused = fuse(
    { visual_words: { scores: scores(...frames, ...others) } },
    { placeOf, momentOf: itself, depth: 50, k: 100 },
  );
  t.equal(fused.length, 50);
  t.equal(fused[0]!.segments, 500);
  t.ok(fused[0]!.moments.length < 20);
});

t.test('frames of a film are so many chances to look like a description, not like a picture', async (t) => {
  const placeOf = (segment: number) => Math.min(segment, 100);
  const sizeOf = (segment: number) => (segment >= 100 ? 60 : 0);
  const known = { scores: scores([100, 0.45], [101, 0.44], [1, 0.44], [2, 0.2]) };
  const first = (name: 'visual_words' | 'visual_picture') =>
    fuse({ [name]: known }, { placeOf, momentOf: itself, sizeOf })[0]!.segment;
  t.equal(first('visual_words'), 1);
  t.equal(first('visual_picture'), 100);
  const clear = { scores: scores([100, 0.6], [1, 0.44]) };
  const [film] = fuse({ visual_words: clear }, { placeOf, momentOf: itself, sizeOf });
  t.equal(film!.segment, 100, 'a film that plainly shows it comes first');
});

t.test(
  'a query that describes no picture makes described pictures less likely, and nothing else',
  async (t) => {
    const known = {
      raw_words: { scores: scores([1, 9]), held: scores([1, 1]) },
      visual_words: { scores: scores([2, 0.4]) },
      visual_picture: { scores: scores([3, 0.4]) },
    };
    const odds = (describesNone: boolean) =>
      new Map(fuse(known, { describesNone }).map((hit) => [hit.segment, hit.score]));
    const [plain, asked] = [odds(false), odds(true)];
    t.equal(asked.get(1), plain.get(1));
    t.equal(asked.get(3), plain.get(3));
    t.ok(asked.get(2)! < plain.get(2)! - 1);
  },
);

t.test(
  'a question of two words that are nowhere is judged by its meaning, a name of two words is not',
  async (t) => {
    const information = 2 * Math.log1p(1000.5 / 0.5);
    const known = {
      raw_words: { scores: scores(), information },
      text_semantic: { scores: scores([1, 0.7], [2, 0.1]) },
    };
    const [asked] = fuse(known, { asks: true });
    const [named] = fuse(known);
    t.ok(asked!.confidence > 0.4, `${asked!.confidence}`);
    t.ok(named!.confidence < 0.4, `${named!.confidence}`);
    const lacking = { ...known.raw_words, lacks: scores([1, 0.5], [2, 0.5]) };
    t.ok(
      fuse({ ...known, raw_words: lacking }, { asks: true })[0]!.confidence < 0.4,
      'something named is lacking',
    );
  },
);

t.test('a note about a file does not outrank a text with the same words', async (t) => {
  const known = { scores: scores([1, 9], [2, 3], [3, 2]), held: scores([1, 1], [2, 1], [3, 0.4]) };
  const order = (notes: readonly number[]) =>
    fuse({ raw_words: { ...known, notes } }).map(({ segment }) => segment);
  t.same(order([]), [1, 2, 3]);
  t.same(order([1]), [2, 1, 3], 'but what has fewer of the words');
});
