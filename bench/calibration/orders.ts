/**
 * The order of passages beside plainer ones, and without each of its rows; nDCG@10 of each set, its own queries (and the share with a right
 * first hit) and names, numbers and codes out of its texts. A fit over all that is known is judged on the set that it was not made on. The candidates are those of
 * `make bench NAME=calibration`, and are kept with them.
 */
import { openEncoder } from '../../src/engine/encode/open-encoder.ts';
import { mean, ndcg } from '../rig/retrieval.ts';
import type { DumpedPlace, DumpedQuery } from './candidates.ts';
import { dumpsOf, foldersOf, isExact } from './dumps.ts';
import { ENCODER } from './encoder.ts';
import { fitListwise, type Listed } from './listwise.ts';
import { exampleOf, orderOf, type Plans, plansOf } from './model.ts';

/** Scores of a query's places; a higher one is better. */
type Scorer = (query: DumpedQuery) => readonly (number | undefined)[];

const RRF_K = 60;
/** Queries that a collection counts as in a fit. */
const QUERIES = 500;
const WHOLE = 0.999;

const encoder = await openEncoder(ENCODER);
const order = orderOf(encoder);
const foreign = encoder.fusion.unknown_language_share;

const best = (places: readonly DumpedPlace[]) => Math.max(0, ...places.map(({ words }) => words?.score ?? 0));

const bm25: Scorer = ({ places }) => places.map(({ words }) => words?.score);
const dense: Scorer = ({ places }) => places.map(({ meaning }) => meaning?.score);
const reciprocal: Scorer = ({ places }) =>
  places.map(({ words, meaning }) =>
    [words?.rank, meaning?.rank].reduce<number>((sum, rank) => sum + (rank ? 1 / (RRF_K + rank) : 0), 0),
  );
const halves: Scorer = ({ places }) => {
  const scaled = (values: readonly number[]) => {
    const [least, most] = [Math.min(...values), Math.max(...values)];
    return values.map((value) => (most > least ? (value - least) / (most - least) : 0));
  };
  const [words, meaning] = (['words', 'meaning'] as const).map((list) =>
    scaled(places.map((place) => place[list]?.score ?? 0)),
  );
  return places.map((_, at) => words![at]! / 2 + meaning![at]! / 2);
};

/** Farthing's own order, with other weights or another evidence. */
function own(plans: Plans, change: (place: DumpedPlace) => DumpedPlace = (place) => place): Scorer {
  return (query) => {
    const places = query.places.map((place, document) => ({ ...change(place), document }));
    const scores = Array<number | undefined>(places.length);
    for (const { document, order } of exampleOf({ ...query, relevant: [], places }, 'fused', plans)?.places ??
      [])
      scores[document] = order;
    return scores;
  };
}

const words = (change: object) => (place: DumpedPlace) =>
  place.words ? { ...place, words: { ...place.words, ...change } } : place;

/** What is known of each place. */
const FEATURES = ['share', 'deviations', 'held', 'whole', 'written', 'lacks', 'agreement', 'missing'];

function featuresOf({
  places,
  words: { information },
  meaning: { foreign: isForeign },
}: DumpedQuery): number[][] {
  const most = best(places);
  const { mean: middle, deviation } = order.text_semantic.scale ?? { mean: 0, deviation: 1 };
  const far = places.map(({ meaning }) => (meaning ? (meaning.score - middle) / deviation : 0));
  const farthest = Math.max(1e-9, ...far);
  return places.map(({ words: said }, at) => {
    const share = most > 0 ? (said?.score ?? 0) / most : 0;
    const held = said?.held ?? 0;
    return [
      share,
      far[at]! * (isForeign ? foreign : 1),
      Math.log1p(held * information),
      Number(held > WHOLE),
      Number(said?.written ?? false),
      Math.sqrt(said?.lacks ?? 0),
      share * (isForeign ? 1 : Math.max(0, far[at]!) / farthest),
      Math.log1p((1 - held) * information),
    ];
  });
}

/** Documents by their first hits, and those that answer. */
function rankedBy(query: DumpedQuery, scorer: Scorer) {
  const scores = scorer(query);
  const ranked = [...query.places.keys()]
    .filter((at) => scores[at] !== undefined)
    .sort((a, b) => scores[b]! - scores[a]! || a - b)
    .map((at) => String(query.places[at]!.document));
  const grades = new Map(query.relevant.map((document) => [String(document), 1] as const));
  return { ranked: [...new Set(ranked)], grades };
}

function gainOf(query: DumpedQuery, scorer: Scorer): number {
  const { ranked, grades } = rankedBy(query, scorer);
  return ndcg(ranked, grades);
}

function isFirstRight(query: DumpedQuery, scorer: Scorer): boolean {
  const { ranked, grades } = rankedBy(query, scorer);
  return ranked[0] !== undefined && grades.has(ranked[0]);
}

export const facts: Record<string, Record<string, number>> = {};
try {
  const sets = await dumpsOf(encoder, foldersOf(process.env.SETS!), {
    cacheFolder: ENCODER.cacheFolder,
    fresh: Boolean(process.env.FRESH),
  });
  const asked = new Map(
    [...sets].map(([name, { full }]) => [name, full.filter((query) => !isExact(query))] as const),
  );
  const lists = new Map(
    [...asked].map(([name, queries]) => [
      name,
      queries.map((query): Listed => {
        const relevant = new Set(query.relevant);
        return {
          features: featuresOf(query),
          relevant: query.places.map(({ document }) => relevant.has(document)),
          weight: QUERIES / queries.length,
        };
      }),
    ]),
  );
  /** Made on all sets but this one. */
  const fitted = (columns: readonly number[]) => {
    const pick = (row: readonly number[]) => columns.map((at) => row[at]!);
    const weightsOf = new Map(
      [...sets.keys()].map((name) => {
        const others = [...lists].flatMap(([other, of]) => (other === name ? [] : of));
        return [
          name,
          fitListwise(others.map((list) => ({ ...list, features: list.features.map(pick) }))),
        ] as const;
      }),
    );
    return (name: string): Scorer =>
      (query) =>
        featuresOf(query).map((row) =>
          pick(row).reduce((sum, value, at) => sum + value * weightsOf.get(name)![at]!, 0),
        );
  };
  const same = (scorer: Scorer) => () => scorer;
  const plans = plansOf(order, foreign);
  const orders: Record<string, (set: string) => Scorer> = {
    BM25: same(bm25),
    meaning: same(dense),
    'reciprocal rank fusion': same(reciprocal),
    'sum, half each': same(halves),
    'the order': same(own(plans)),
    'without words as written': same(own(plans, words({ written: false }))),
    'without less for a foreign language': same(own(plansOf(order, 1))),
    'fitted: share and deviations': fitted([0, 1]),
    'fitted: all that is known': fitted([...FEATURES.keys()]),
  };
  for (const [name, scorerOf] of Object.entries(orders)) {
    facts[name] = {};
    for (const [set, { full }] of sets) {
      const scorer = scorerOf(set);
      const rounded = (of: readonly number[]) => Number(mean(of).toFixed(4));
      const own = asked.get(set)!;
      facts[name]![set] = rounded(own.map((query) => gainOf(query, scorer)));
      facts[name]![`${set}, first`] = rounded(own.map((query) => Number(isFirstRight(query, scorer))));
      facts[name]![`${set}, exact`] = rounded(full.filter(isExact).map((query) => gainOf(query, scorer)));
    }
    console.log(name.padEnd(38), JSON.stringify(facts[name]));
  }
} finally {
  await encoder.close();
}
