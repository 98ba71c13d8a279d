/**
 * The order of passages beside plainer ones, and without each of its rows: nDCG@10, the share of right first hits and MRR@10 of each set's
 * own queries, and nDCG@10 of names, numbers and codes out of its texts. `fit.py` judges, and fits over all that is known with each set left
 * out. Of the order also how true the first hit's confidence is, by curves of the other sets. It prints tables. The candidates are those of
 * `make bench NAME=calibration`, and are kept with them. OTHER_LANGUAGES=1: with the text model for other languages.
 */
import type { DumpedPlace, DumpedQuery } from './candidates.ts';
import { type JudgedView, judgedCurves } from './curves.ts';
import { dumpsOf, isExact } from './dumps.ts';
import { openChosenEncoder } from './encoder.ts';
import { exampleOf, orderOf, type Plans, plansOf } from './examples.ts';
import { fitted } from './fitted.ts';

const { encoder, close } = await openChosenEncoder();
const order = orderOf(encoder);
const { fusion } = encoder;
const plans = plansOf(order, fusion);
const sameForeign = plansOf(order, { ...fusion, unknown_language_share: 1 });
const { other_language_words: _, ...meaning } = order.text_semantic;
const coincidences = plansOf({ ...order, text_semantic: meaning }, fusion);

/** Farthing's own order of a query's places, with other plans or evidence; null: not found. */
function ordersOf(query: DumpedQuery, plans: Plans, change = (place: DumpedPlace) => place) {
  const places = query.places.map((place, document) => ({ ...change(place), document }));
  const scores = Array<number | null>(places.length).fill(null);
  const { documents, orders } = exampleOf({ ...query, relevant: [], places }, 'fused', plans) ?? {};
  documents?.forEach((document, at) => {
    scores[document] = orders![at]!;
  });
  return scores;
}

const notWritten = ({ words, ...rest }: DumpedPlace): DumpedPlace =>
  words ? { ...rest, words: { ...words, written: false } } : rest;

const ORDERS: Readonly<Record<string, (query: DumpedQuery) => readonly (number | null)[]>> = {
  'the order': (query) => ordersOf(query, plans),
  'without words as written': (query) => ordersOf(query, plans, notWritten),
  'without less for a foreign language': (query) => ordersOf(query, sameForeign),
  'without less for coincidental words': (query) => ordersOf(query, coincidences),
};

const MEASURES = { 'nDCG@10': '', 'right first': ', first', 'MRR@10': ', mrr', 'names, nDCG@10': ', exact' };

/** A table of Markdown for each measure, with its mean, and one of the first hit's confidence. */
function printTables(
  names: readonly string[],
  orders: Readonly<Record<string, Readonly<Record<string, number>>>>,
  confidence: JudgedView,
) {
  const print = (...cells: readonly (string | number)[]) =>
    console.log(
      `| ${cells.map((cell) => (typeof cell === 'number' ? cell.toFixed(3) : cell)).join(' | ')} |`,
    );
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const head = (what: string) => {
    print(what, ...names, 'mean');
    console.log('|---'.repeat(names.length + 2).concat('|'));
  };
  for (const [what, suffix] of Object.entries(MEASURES)) {
    head(what);
    for (const [order, of] of Object.entries(orders)) {
      const values = names.map((name) => of[name + suffix]!);
      print(order, ...values, mean(values));
    }
  }
  head('first hit, set left out');
  for (const [what, member] of [
    ['right', 'first_right'],
    ['confidence', 'confidence'],
    ['calibration error', 'ece'],
    ['of confidences from .25 to .75: right ones above', 'middle_right_above'],
  ] as const) {
    const values = confidence.sets.map((of) => of[member]);
    print(what, ...values, mean(values));
  }
}

export let facts = {};
try {
  const dumps = await dumpsOf(encoder);
  const sets = [...dumps].map(([name, { full }]) => [
    name,
    full.map((query) => ({
      ...query,
      isExact: isExact(query),
      orders: Object.fromEntries(Object.entries(ORDERS).map(([name, of]) => [name, of(query)])),
    })),
  ]);
  const scale = order.text_semantic.scale ?? { mean: 0, deviation: 1 };
  const orders = fitted<Parameters<typeof printTables>[1]>('orders', {
    scale,
    foreignShare: fusion.unknown_language_share,
    orders: Object.keys(ORDERS),
    sets: Object.fromEntries(sets),
  });
  const confidence = judgedCurves(dumps, plans, encoder).find(({ view }) => view === 'answers')!;
  printTables([...dumps.keys()], orders, confidence);
  facts = { ...orders, confidence };
} finally {
  await close();
}
