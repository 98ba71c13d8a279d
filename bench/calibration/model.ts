import type { Encoder } from '../../src/engine/encode/encoder.ts';
import type { CURVE_FEATURES, ListSettings } from '../../src/engine/encode/models/manifest.ts';
import { nativePlan } from '../../src/engine/search/plan.ts';
import { native } from '../../src/native/index.ts';
import { LISTS, type ListName } from '../../src/protocol/family.ts';
import type { DumpedQuery, Evidence } from './candidates.ts';
import { fitLogistic } from './logistic.ts';

export type Feature = (typeof CURVE_FEATURES)[number];
export type Curve = NonNullable<ListSettings['curve']>;

/** What is asked: one family by itself, or both. */
export const VIEWS = {
  raw_words: { lists: ['raw_words'], features: ['lead', 'held', 'missing', 'written'] },
  text_semantic: { lists: ['text_semantic'], features: ['lead', 'cosine', 'cosine_lead'] },
  fused: { lists: ['raw_words', 'text_semantic'], features: ['lead', 'held', 'missing', 'written'] },
} as const satisfies Record<
  string,
  { readonly lists: readonly ListName[]; readonly features: readonly Feature[] }
>;
export type View = keyof typeof VIEWS;

type OrderedList = 'raw_words' | 'text_semantic';

/** How each list counts in the order of passages. */
export type Order = Readonly<Record<OrderedList, Pick<ListSettings, 'weight' | 'scale'>>>;

/** For each view the plan of its lists. */
export type Plans = Readonly<Record<View, ReturnType<typeof nativePlan>>>;

/** The order that the models in use have. @throws without a text model */
export function orderOf({ fusion, spaces }: Pick<Encoder, 'fusion' | 'spaces'>): Order {
  const text_semantic = spaces.find(({ name }) => name === 'text_semantic')?.lists.text_semantic;
  if (!text_semantic) throw new Error('there is no text model to calibrate');
  const only = ({ weight, scale }: ListSettings) => ({ weight, ...(scale && { scale }) });
  return { raw_words: only(fusion.raw_words), text_semantic: only(text_semantic) };
}

export function plansOf(order: Order, unknownLanguageShare: number): Plans {
  const made = Object.entries(VIEWS).map(([view, { lists }]) => [
    view,
    nativePlan(
      lists.map((name: OrderedList) => ({ name, traits: LISTS[name], ...order[name] })),
      unknownLanguageShare,
    ),
  ]);
  return Object.fromEntries(made) as Plans;
}

/** What `judgePassages` answers. */
interface Judged {
  readonly features: Readonly<Record<Feature, number>>;
  readonly candidates: readonly number[];
  readonly orders: readonly number[];
}

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
export function exampleOf(
  query: DumpedQuery,
  view: View,
  plans: Plans,
  unanswerable = false,
): Example | undefined {
  const relevant = new Set(query.relevant);
  const lists: readonly OrderedList[] = VIEWS[view].lists;
  const documents: number[] = [];
  const candidates: Evidence['candidates'][number][] = [];
  const said: Evidence['said'][number][] = [];
  for (const [place, { document, words, meaning }] of query.places.entries()) {
    const of = { raw_words: words, text_semantic: meaning };
    const isFound = lists.some((name) => of[name] && (name === 'text_semantic' || of[name].score > 0));
    if (!isFound || (unanswerable && relevant.has(document))) continue;
    documents.push(document);
    candidates.push({ place, moment: place, size: 0, first: place, segments: 1 });
    said.push(...lists.map((name) => of[name] ?? null));
  }
  const scaleOf = { raw_words: query.words, text_semantic: query.meaning };
  const evidence: Evidence = { scales: lists.map((name) => scaleOf[name]), candidates, said };
  const judged = native.judgePassages(plans[view], JSON.stringify(evidence));
  if (judged === null) return undefined;
  const { features, candidates: ordered, orders } = JSON.parse(judged) as Judged;
  return {
    features,
    places: ordered.map((candidate, at) => {
      const document = documents[candidate]!;
      return { document, relevant: relevant.has(document), order: orders[at]! };
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
/** Places behind the first that are rows of a fit too, and what they count together: the first 1. */
const BEHIND = 9;
const BEHIND_WEIGHT = 0.3;

export function fitCurve(groups: readonly Weighed[], view: View): Curve {
  const names: readonly Feature[] = VIEWS[view].features;
  const rows = groups.flatMap(({ examples, weight }) =>
    examples.flatMap((example) =>
      example.places.slice(0, 1 + BEHIND).map(({ relevant }, at) => {
        const features = featuresAt(example, at);
        const share = at === 0 ? 1 : BEHIND_WEIGHT / BEHIND;
        return {
          features: names.map((name) => features[name]),
          relevant,
          weight: (share * weight * ROWS) / examples.length,
        };
      }),
    ),
  );
  const { bias, weights } = fitLogistic(rows);
  const fixed = (value: number) => Number(value.toFixed(4));
  const of = Object.fromEntries(names.map((name, at) => [name, fixed(weights[at]!)]));
  return { bias: fixed(bias), ...of, lead: of.lead! };
}

/** Of the place at a rank, from 0: only the lead is its own. */
function featuresAt({ features, places }: Example, at: number): Example['features'] {
  return at === 0 ? features : { ...features, lead: places[at]!.order - places[0]!.order };
}

/** That the place at a rank, from 0, answers. */
export function confidenceOf(example: Example, curve: Curve, at = 0): number {
  let sum = curve.bias;
  for (const [name, value] of Object.entries(featuresAt(example, at)))
    sum += (curve[name as Feature] ?? 0) * value;
  return 1 / (1 + Math.exp(-sum));
}
