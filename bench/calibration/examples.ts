import type { Encoder } from '../../src/engine/encode/encoder.ts';
import type { CURVE_FEATURES, ListSettings } from '../../src/engine/encode/models/manifest.ts';
import { nativePlan } from '../../src/engine/search/plan.ts';
import { native } from '../../src/native/index.ts';
import { LISTS, type ListName } from '../../src/protocol/family.ts';
import type { DumpedQuery, Evidence } from './candidates.ts';

type Feature = (typeof CURVE_FEATURES)[number];

/** One family searched by itself, or both together. */
export const VIEWS = {
  raw_words: { lists: ['raw_words'], features: ['lead', 'held', 'missing', 'written'] },
  text_semantic: { lists: ['text_semantic'], features: ['lead', 'cosine', 'cosine_lead'] },
  fused: { lists: ['raw_words', 'text_semantic'], features: ['lead', 'held', 'missing', 'written'] },
  /** As `fused`, of queries that are sentences: without names, codes, and pairs of words that are there. */
  sentences: { lists: ['raw_words', 'text_semantic'], features: ['lead', 'missing', 'meaning'] },
} as const satisfies Record<
  string,
  { readonly lists: readonly ListName[]; readonly features: readonly Feature[] }
>;
type View = keyof typeof VIEWS;

type OrderedList = 'raw_words' | 'text_semantic';

/** How each list counts in the order of passages. */
export type Order = Readonly<
  Record<OrderedList, Pick<ListSettings, 'weight' | 'scale' | 'other_language_words'>>
>;

/** For each view the plan of its lists. */
export type Plans = Readonly<Record<View, ReturnType<typeof nativePlan>>>;

/** The order that the models in use have. @throws without a text model */
export function orderOf({ fusion, spaces }: Pick<Encoder, 'fusion' | 'spaces'>): Order {
  const text_semantic = spaces.find(({ name }) => name === 'text_semantic')?.lists.text_semantic;
  if (!text_semantic) throw new Error('there is no text model to calibrate');
  const only = ({ weight, scale, other_language_words }: ListSettings) => ({
    weight,
    ...(scale && { scale }),
    ...(other_language_words !== undefined && { other_language_words }),
  });
  return { raw_words: only(fusion.raw_words), text_semantic: only(text_semantic) };
}

export function plansOf(order: Order, fusion: Parameters<typeof nativePlan>[1]): Plans {
  const made = Object.entries(VIEWS).map(([view, { lists }]) => [
    view,
    nativePlan(
      lists.map((name: OrderedList) => ({ name, traits: LISTS[name], ...order[name] })),
      fusion,
    ),
  ]);
  return Object.fromEntries(made) as Plans;
}

/** The answer of `judgePassages`. */
interface Judged {
  readonly features: Readonly<Record<Feature, number>>;
  /** The curve that judges it: `JudgedAs` in `native/core/src/search/passages.rs`. */
  readonly judged_as: 'any' | 'sentence' | 'meaning_alone';
  readonly candidates: readonly number[];
  readonly orders: readonly number[];
}

/** One query's places in order, and the features of the first. */
export interface Example {
  readonly features: Readonly<Record<Feature, number>>;
  readonly judgedAs: Judged['judged_as'];
  /** For each place its document, whether that answers, and what it is ordered by. */
  readonly documents: readonly number[];
  readonly relevant: readonly boolean[];
  readonly orders: readonly number[];
  /** Number of documents that answer. */
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
  const judged = native.judgePassages(plans[view], JSON.stringify(evidence), query.segments, query.asks);
  if (judged === null) return undefined;
  const { features, judged_as: judgedAs, candidates: ordered, orders } = JSON.parse(judged) as Judged;
  const ranked = ordered.map((candidate) => documents[candidate]!);
  return {
    features,
    judgedAs,
    documents: ranked,
    relevant: ranked.map((document) => relevant.has(document)),
    orders,
    answers: unanswerable ? 0 : relevant.size,
  };
}
