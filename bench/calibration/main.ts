/**
 * Fits the curves of the text model in use (`farthing admin models use`) and judges them on collections that they were not fitted on.
 *
 * Each collection of SETS that is there is encoded once and searched once: with its own
 * queries, with names, numbers and codes of its texts, and in indexes of about 1, 10 and 100 Segments with and without the answer. The
 * candidates are kept in the cache folder, so that fitting needs no model; FRESH=1 searches again. Every query counts a second time
 * without its answers. `fit.py` fits the curves of the manifest on all collections; what it judges is fitted on the others.
 */
import { openEncoder } from '../../src/engine/encode/open-encoder.ts';
import { whereOf } from '../sets/where.js';
import type { Dump } from './dump.ts';
import { dumpsOf, isExact } from './dumps.ts';
import { ENCODER } from './encoder.ts';
import { type Example, exampleOf, orderOf, plansOf, VIEWS } from './examples.ts';
import { fitted } from './fitted.ts';
import { pictureSearches } from './pictures.ts';

export let facts = {};
const encoder = await openEncoder(ENCODER);
const plans = plansOf(orderOf(encoder), encoder.fusion);
try {
  const dumps = [...(await dumpsOf(encoder))];
  if (dumps.length < 2)
    throw new Error('SETS: name two sets at least: each is judged by curves of the others');
  const views = Object.entries(VIEWS).map(([view, { features }]) => {
    const sets = dumps.map(([name, dump]) => [name, examplesOf(dump, view as keyof typeof VIEWS)] as const);
    const judged = sets.filter(([, { judged }]) => judged.length > 0);
    return [view, { features, sets: Object.fromEntries(judged) }];
  });
  const answeredMin = encoder.fusion.answered_min;
  const judged = fitted<object[]>('curves', { views: Object.fromEntries(views), answeredMin });
  const photos = whereOf('photos');
  const visual_words =
    photos === undefined ? undefined : fitted('pictures', await pictureSearches(encoder, photos));
  facts = { views: judged, pictures: visual_words && { visual_words } };
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
  readonly cut: Readonly<Record<string, Readonly<Record<'own' | 'exact' | 'words', WithAndWithout>>>>;
  /** In the index itself, and with 1,000 Segments of other collections in it. */
  readonly beside: readonly (readonly [alone: Example, beside: Example])[];
  /** Number of unanswerable queries that find nothing at all. */
  readonly nothing: { readonly exact: number; readonly others: number };
}

function examplesOf({ full: all, cut, words, beside }: Dump, view: keyof typeof VIEWS): Examples {
  // What the model does not know the language of has another curve.
  const asked = (queries: Dump['full']) =>
    view === 'sentences' ? queries.filter(({ meaning }) => !meaning.foreign) : queries;
  const full = asked(all);
  const of = (queries: Dump['full'], unanswerable = false) =>
    asked(queries).flatMap((query) => exampleOf(query, view, plans, unanswerable) ?? []);
  const withAndWithout = (queries: Dump['full']): WithAndWithout => {
    const unanswerable = asked(queries).filter(({ relevant }) => relevant.length === 0);
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
    cut: Object.fromEntries(
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
      const [alone, mixed] = [same && exampleOf(same, view, plans), exampleOf(query, view, plans)];
      return alone && mixed ? [[alone, mixed] as const] : [];
    }),
  };
}
