/**
 * Fits the curves of the text model in use (`farthing admin models use`) and judges them on collections that they were not fitted on.
 *
 * Each collection of SETS that is there is encoded once and searched once: with its own
 * queries, with names, numbers and codes of its texts, and in indexes of about 1, 10 and 100 Segments with and without the answer. The
 * candidates are kept in the cache folder, so that fitting needs no model; FRESH=1 searches again. Every query counts a second time
 * without its answers. The curves of the manifest are fitted on all collections; what is judged is fitted on the others.
 */
import { openEncoder } from '../../src/engine/encode/open-encoder.ts';
import { ndcg } from '../rig/retrieval.ts';
import { whereOf } from '../sets/where.js';
import type { Dump } from './dump.ts';
import { dumpsOf, foldersOf, isExact } from './dumps.ts';
import { ENCODER } from './encoder.ts';
import { calibrationError, type FirstHit, rounded, Thresholds } from './first-hits.ts';
import {
  type Curve,
  confidenceOf,
  type Example,
  exampleOf,
  fitCurve,
  orderOf,
  plansOf,
  VIEWS,
  type View,
  type Weighed,
} from './model.ts';
import { fitPictures } from './pictures.ts';

const folders = foldersOf(process.env.SETS!);
/**
 * How much queries without their answers, queries of small indexes, exact queries, and one or two words asked of small indexes count
 * beside a collection's own.
 */
const WEIGHTS = { unanswerable: 0.05, cut: 0.2, cutWithout: 0.1, exact: 0.15, words: 0.09 };

/** Sets of fewer queries are judged together. */
const POOLED_BELOW = 200;
/** Unrelated Segments should move a right first hit's confidence by at most this. */
const MOVE_MAX = 0.1;

export let facts = {};
const encoder = await openEncoder(ENCODER);
const plans = plansOf(orderOf(encoder), encoder.fusion.unknown_language_share);
try {
  const dumps = await dumpsOf(encoder, folders, {
    cacheFolder: ENCODER.cacheFolder,
    fresh: Boolean(process.env.FRESH),
  });
  if (dumps.size < 2) throw new Error('SETS: name two sets at least: each is judged by curves of the others');
  const views = (Object.keys(VIEWS) as View[]).map((view) => judge(view, dumps));
  const photos = whereOf('photos');
  const pictures = photos === undefined ? undefined : await fitPictures(encoder, photos);
  console.log(JSON.stringify(pictures));
  facts = { views, pictures };
} finally {
  await encoder.close();
}

interface WithAndWithout {
  readonly with: readonly Example[];
  readonly without: readonly Example[];
  /** Queries without their answer that find nothing at all. */
  readonly nothing: number;
}

interface Examples {
  readonly judged: readonly Example[];
  readonly unanswerable: readonly Example[];
  readonly exact: readonly Example[];
  readonly exactUnanswerable: readonly Example[];
  /** In small indexes, by their number of Segments: with the answer and without it. */
  readonly cut: ReadonlyMap<
    string,
    { readonly own: WithAndWithout; readonly exact: WithAndWithout; readonly words: WithAndWithout }
  >;
  /** In the index itself, and with 1,000 Segments of other collections in it. */
  readonly beside: readonly (readonly [alone: Example, beside: Example])[];
  /** Unanswerable queries that find nothing at all: of exact ones, and of the others. */
  readonly nothing: { readonly exact: number; readonly others: number };
}

function examplesOf({ full, cut, words, beside }: Dump, view: View): Examples {
  const of = (queries: Dump['full'], unanswerable = false) =>
    queries.flatMap((query) => exampleOf(query, view, plans, unanswerable) ?? []);
  const withAndWithout = (queries: Dump['full']): WithAndWithout => {
    const unanswerable = queries.filter(({ relevant }) => relevant.length === 0);
    const without = of(unanswerable);
    return {
      with: of(queries.filter(({ relevant }) => relevant.length > 0)),
      without,
      nothing: unanswerable.length - without.length,
    };
  };
  const own = full.filter((query) => !isExact(query));
  const exact = full.filter(isExact);
  const unanswerable = of(own, true);
  const exactUnanswerable = of(exact, true);
  return {
    judged: of(own),
    unanswerable,
    exact: of(exact),
    exactUnanswerable,
    nothing: {
      exact: exact.length - exactUnanswerable.length,
      others: own.length - unanswerable.length,
    },
    cut: new Map(
      Object.entries(cut).map(([size, queries]) => [
        size,
        {
          own: withAndWithout(queries.filter((query) => !isExact(query))),
          exact: withAndWithout(queries.filter(isExact)),
          words: withAndWithout(words[size]!),
        },
      ]),
    ),
    beside: beside.flatMap((query) => {
      const same = full.find(({ id }) => id === query.id);
      const [alone, crowded] = [same && exampleOf(same, view, plans), exampleOf(query, view, plans)];
      return alone && crowded ? [[alone, crowded] as const] : [];
    }),
  };
}

function groupsOf(examples: Examples, view: View): Weighed[] {
  // Meaning alone knows no word that is not there.
  const words = view === 'text_semantic' ? 0 : WEIGHTS.words;
  const { judged, unanswerable, exact, exactUnanswerable, cut } = examples;
  const groups = [
    { examples: judged, weight: 1 },
    { examples: unanswerable, weight: WEIGHTS.unanswerable },
    { examples: exact, weight: WEIGHTS.exact },
    { examples: exactUnanswerable, weight: WEIGHTS.exact * WEIGHTS.unanswerable },
    ...[...cut.values()].flatMap((of) => [
      { examples: of.own.with, weight: WEIGHTS.cut },
      { examples: of.own.without, weight: WEIGHTS.cutWithout },
      { examples: of.exact.with, weight: WEIGHTS.cut * WEIGHTS.exact },
      { examples: of.exact.without, weight: WEIGHTS.cutWithout * WEIGHTS.exact },
      { examples: of.words.with, weight: words },
      { examples: of.words.without, weight: words },
    ]),
  ];
  return groups.filter(({ examples, weight }) => examples.length > 0 && weight > 0);
}

/** Fits a view's curve on all collections, and judges each by a curve of the others. */
function judge(view: View, dumps: ReadonlyMap<string, Dump>) {
  const examples = new Map([...dumps].map(([name, dump]) => [name, examplesOf(dump, view)]));
  const curve = fitCurve(
    [...examples.values()].flatMap((of) => groupsOf(of, view)),
    view,
  );
  console.log(`${view}: ${JSON.stringify(curve)}`);
  const told = new Thresholds();
  const small: FirstHit[] = [];
  const sets = [...examples].map(([name, own]) => {
    const others = [...examples].flatMap(([other, of]) => (other === name ? [] : groupsOf(of, view)));
    const leftOut = fitCurve(others, view);
    const first = (of: readonly Example[]) =>
      of.map((example) => ({
        confidence: confidenceOf(example, leftOut),
        right: example.places[0]!.relevant,
      }));
    const hits = first(own.judged);
    if (hits.length < POOLED_BELOW) small.push(...hits);
    const behind = own.judged.flatMap((example) =>
      example.places.slice(1, 10).map(({ relevant }, at) => ({
        confidence: confidenceOf(example, leftOut, at + 1),
        right: relevant,
      })),
    );
    const { exact, exactUnanswerable, nothing, cut } = own;
    told.add('names', first(exact), first(exactUnanswerable), nothing.exact);
    for (const [size, of] of cut) {
      told.add(`names, ${size}`, first(of.exact.with), first(of.exact.without), of.exact.nothing);
      told.add(`words, ${size}`, first(of.words.with), first(of.words.without), of.words.nothing);
    }
    if (own.judged.every(({ answers }) => answers === 1)) {
      told.add('questions', hits, first(own.unanswerable), nothing.others);
      for (const [size, of] of cut)
        told.add(`questions, ${size}`, first(of.own.with), first(of.own.without), of.own.nothing);
    }
    const mean = (of: readonly number[]) => rounded(of.reduce((sum, value) => sum + value, 0) / of.length);
    const figures = {
      set: name,
      queries: hits.length,
      ndcg_at_10: mean(own.judged.map(gainOf)),
      first_right: mean(hits.map((hit) => Number(hit.right))),
      confidence: mean(hits.map(({ confidence }) => confidence)),
      ...calibrationError(hits),
      ece_behind: calibrationError(behind).ece,
      exact_all_first: mean(exact.map((example) => Number(allFirst(example)))),
      exact_right_at_half: mean(first(exact).map((hit) => Number(hit.right && hit.confidence >= 0.5))),
      moved_little: mean(movesOf(own, leftOut).map((move) => Number(move <= MOVE_MAX))),
    };
    console.log(JSON.stringify(figures));
    return figures;
  });
  const answered = told.figures(encoder.fusion.answered_min);
  const pooled = calibrationError(small);
  const errors = sets.flatMap(({ queries, ece }) => (queries < POOLED_BELOW ? [] : ece));
  if (small.length > 0) errors.push(pooled.ece);
  const ece_mean = rounded(errors.reduce((sum, ece) => sum + ece, 0) / errors.length);
  console.log(JSON.stringify({ view, ece_mean, pooled, ...answered }));
  return { view, curve, ece_mean, pooled, ...answered, sets };
}

/** How far 1,000 Segments of other collections move the confidence of each right first hit; 1 where it is no longer first. */
function movesOf({ beside }: Examples, curve: Curve): number[] {
  return beside.flatMap(([alone, crowded]) => {
    const [first, then] = [alone.places[0]!, crowded.places[0]!];
    if (!first.relevant) return [];
    const stays = first.document === then.document;
    return stays ? Math.abs(confidenceOf(alone, curve) - confidenceOf(crowded, curve)) : 1;
  });
}

function gainOf({ places, answers }: Example): number {
  const documents = [...new Map(places.map(({ document, relevant }) => [document, relevant]))];
  const missing = Array.from({ length: answers }, (_, at) => [`missing ${at}`, 1] as const);
  const found = documents.filter(([, relevant]) => relevant);
  const grades = new Map<string, number>([
    ...found.map(([document]) => [String(document), 1] as const),
    ...missing.slice(found.length),
  ]);
  return ndcg(
    documents.map(([document]) => String(document)),
    grades,
  );
}

/** Whether all documents that answer come before any other. */
function allFirst({ places, answers }: Example): boolean {
  const first = new Set<number>();
  for (const { document, relevant } of places) {
    if (!relevant) break;
    first.add(document);
  }
  return first.size === answers;
}
