import type { Encoder } from '../../src/engine/encode/encoder.ts';
import type { Dump } from './dump.ts';
import { isExact } from './dumps.ts';
import { type Example, exampleOf, type Plans, VIEWS } from './examples.ts';
import { fitted } from './fitted.ts';

type View = keyof typeof VIEWS;

/** A view, or `answers`, with the figures of each collection's first hits. */
export interface JudgedView {
  readonly view: string;
  readonly sets: readonly Readonly<
    Record<'first_right' | 'confidence' | 'ece' | 'middle_right_above', number>
  >[];
}

/**
 * Curves of confidence that are fitted on all collections, and each collection judged by curves of the others: view by view, and
 * `answers`, where each query is judged by the curve that a search takes.
 */
export function judgedCurves(
  dumps: ReadonlyMap<string, Dump>,
  plans: Plans,
  { fusion, spaces }: Pick<Encoder, 'fusion' | 'spaces'>,
): JudgedView[] {
  if (dumps.size < 2) throw new Error('SETS: name two sets at least: each is judged by curves of the others');
  const own = spaces.find(({ lists }) => lists.text_semantic)?.lists.text_semantic?.sentences;
  const views = Object.entries(VIEWS).map(([view, { features: common }]) => {
    // A sentence is judged by what the model's own curve has.
    const features =
      view === 'sentences' && own ? Object.keys(own).filter((name) => name !== 'bias') : common;
    const sets = [...dumps].map(([name, dump]) => [name, examplesOf(dump, view as View, plans)] as const);
    const judged = sets.filter(([, { judged }]) => judged.length > 0);
    return [view, { features, sets: Object.fromEntries(judged) }];
  });
  return fitted('curves', {
    views: Object.fromEntries(views),
    judgedBy: { any: 'fused', sentence: own ? 'sentences' : 'fused', meaning_alone: 'text_semantic' },
    answeredMin: fusion.answered_min,
  });
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

function examplesOf({ full: all, cut, words, beside }: Dump, view: View, plans: Plans): Examples {
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
