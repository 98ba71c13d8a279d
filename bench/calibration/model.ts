import type { ListName } from '../../src/domain/family.ts';
import type { Candidate, ListEvidence, Scale } from '../../src/search/evidence.ts';
import { probabilityOf } from '../../src/search/fuse.ts';
import { type Curve, type Feature, featuresOf, orderPassages } from '../../src/search/likelihood.ts';
import type { ServedList } from '../../src/search/lists.ts';
import type { DumpedQuery } from './candidates.ts';
import { fitLogistic } from './logistic.ts';

/** What is asked: one family by itself, or both. */
export const VIEWS = {
  raw_words: { lists: ['raw_words'], features: ['gap', 'gap_sixth', 'held', 'lacks'] },
  text_semantic: { lists: ['text_semantic'], features: ['gap', 'gap_sixth', 'cosine', 'lead'] },
  fused: {
    lists: ['raw_words', 'text_semantic'],
    features: ['gap', 'held', 'lacks', 'written', 'agreement'],
  },
} as const satisfies Record<
  string,
  { readonly lists: readonly ListName[]; readonly features: readonly Feature[] }
>;
export type View = keyof typeof VIEWS;

/** How the lists count in the order of passages. */
export const ORDER = new Map<ListName, Pick<ServedList, 'weight' | 'whole' | 'scale'>>([
  ['raw_words', { weight: 1, whole: 1 }],
  ['text_semantic', { weight: 0.2, scale: { mean: 0.08, deviation: 0.1 } }],
]);
export const UNKNOWN_LANGUAGE_SHARE = 0.2;

/** One query's places in order, and what says how likely the first is. */
export interface Example {
  readonly features: Readonly<Record<Feature, number>>;
  readonly places: readonly {
    readonly document: number;
    readonly relevant: boolean;
    readonly order: number;
  }[];
  /** Documents that answer. */
  readonly answers: number;
}

/** A query as one view sees it; without its answers if it is to be unanswerable. Undefined: nothing is found. */
export function exampleOf(query: DumpedQuery, view: View, unanswerable = false): Example | undefined {
  const relevant = new Set(query.relevant);
  const scales: Scale[] = [query.words, query.meaning].filter(({ name }) =>
    (VIEWS[view].lists as readonly ListName[]).includes(name),
  );
  const documents: number[] = [];
  const candidates = query.places.flatMap((place, number): Candidate[] => {
    const evidence: [ListName, ListEvidence][] = [];
    if (place.words && scales.some(({ name }) => name === 'raw_words'))
      evidence.push(['raw_words', place.words]);
    if (place.meaning && scales.some(({ name }) => name === 'text_semantic'))
      evidence.push(['text_semantic', place.meaning]);
    const isFound = evidence.some(([name, { score }]) => name === 'text_semantic' || score > 0);
    if (!isFound || (unanswerable && relevant.has(place.document))) return [];
    documents[number] = place.document;
    return [
      { place: number, moment: number, size: 0, first: number, segments: 1, evidence: new Map(evidence) },
    ];
  });
  const ordered = orderPassages(candidates, scales, ORDER, UNKNOWN_LANGUAGE_SHARE);
  if (ordered.length === 0) return undefined;
  return {
    features: featuresOf(ordered, scales),
    places: ordered.map(({ candidate, order }) => {
      const document = documents[candidate.place]!;
      return { document, relevant: relevant.has(document), order };
    }),
    answers: unanswerable ? 0 : relevant.size,
  };
}

/** Examples of one kind, and how much they count together. */
export interface Weighed {
  readonly examples: readonly Example[];
  readonly weight: number;
}

/** Rows that a collection counts as, however many queries it has. */
const ROWS = 500;
/** Places behind the first that say how fast log-odds fall. */
const BEHIND = 9;

export function fitCurve(groups: readonly Weighed[], view: View): Curve {
  const names: readonly Feature[] = VIEWS[view].features;
  const rows = groups.flatMap(({ examples, weight }) =>
    examples.map(({ features, places }) => ({
      features: names.map((name) => features[name]),
      relevant: places[0]!.relevant,
      weight: (weight * ROWS) / examples.length,
    })),
  );
  const { bias, weights } = fitLogistic(rows);
  const fixed = (value: number) => Number(value.toFixed(4));
  const curve = {
    bias: fixed(bias),
    ...Object.fromEntries(names.map((name, at) => [name, fixed(weights[at]!)])),
  };
  const slopes = Array.from({ length: 23 }, (_, at) => 1 + at / 2);
  const losses = slopes.map((slope) => lossBehind(groups, { ...curve, slope }));
  return { ...curve, slope: slopes[losses.indexOf(Math.min(...losses))]! };
}

function lossBehind(groups: readonly Weighed[], curve: Curve): number {
  let loss = 0;
  for (const { examples, weight } of groups)
    for (const example of examples) {
      const first = logOddsOf(example, curve);
      for (const { order, relevant } of example.places.slice(1, 1 + BEHIND)) {
        const odds = first + curve.slope * (order - example.places[0]!.order);
        loss += (weight / examples.length) * Math.log1p(Math.exp(relevant ? -odds : odds));
      }
    }
  return loss;
}

/** Of the first place. */
function logOddsOf({ features }: Example, curve: Curve): number {
  let sum = curve.bias;
  for (const [name, value] of Object.entries(features)) sum += (curve[name as Feature] ?? 0) * value;
  return sum;
}

export const confidenceOf = (example: Example, curve: Curve): number =>
  probabilityOf(logOddsOf(example, curve));
