/**
 * The order of passages beside plainer ones, and without each of its rows; nDCG@10 of each set, its own queries (and the share with a right
 * first hit) and names, numbers and codes out of its texts. `fit.py` judges, and fits over all that is known with each set left out. The
 * candidates are those of `make bench NAME=calibration`, and are kept with them. OTHER_LANGUAGES=1: with the text model for other languages.
 */
import { openEncoder, openPreviousEncoder } from '../../src/engine/encode/open-encoder.ts';
import type { DumpedPlace, DumpedQuery } from './candidates.ts';
import { dumpsOf, isExact } from './dumps.ts';
import { ENCODER } from './encoder.ts';
import { exampleOf, orderOf, type Plans, plansOf } from './examples.ts';
import { fitted } from './fitted.ts';

const inUse = await openEncoder(ENCODER);
const { otherLanguages, vocabulary } = inUse;
const other =
  process.env.OTHER_LANGUAGES && otherLanguages
    ? await openPreviousEncoder(ENCODER, otherLanguages)
    : undefined;
const encoder = other ? Object.assign(other, { vocabulary }) : inUse;
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

export let facts = {};
try {
  const sets = [...(await dumpsOf(encoder))].map(([name, { full }]) => [
    name,
    full.map((query) => ({
      ...query,
      isExact: isExact(query),
      orders: Object.fromEntries(Object.entries(ORDERS).map(([name, of]) => [name, of(query)])),
    })),
  ]);
  const scale = order.text_semantic.scale ?? { mean: 0, deviation: 1 };
  facts = fitted('orders', {
    scale,
    foreignShare: fusion.unknown_language_share,
    orders: Object.keys(ORDERS),
    sets: Object.fromEntries(sets),
  });
} finally {
  await Promise.all([inUse.close(), other?.close()]);
}
