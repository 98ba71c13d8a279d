import type { Hit } from '../../../../src/protocol/schema/search.ts';
import type { Asked, openAnswers } from './index.ts';

type Found = Awaited<ReturnType<Awaited<ReturnType<typeof openAnswers>>['answer']>>;

/** The part of an answer that goldens compare: no stored records, and nothing that depends on how blocks were merged. */
export function shownAnswer({ hits, explanation, ...found }: Found) {
  return {
    ...found,
    ...(explanation && { segments: explanation.segments, depth: explanation.depth }),
    hits: (hits as Hit[]).map(
      ({ item, confidence, family, score, segments, moments, explanation, locator }) => ({
        item: item.id,
        ...(locator.page !== undefined && { page: locator.page }),
        confidence,
        family,
        score,
        segments,
        ...(moments && { moments }),
        ...(explanation && { explanation }),
      }),
    ),
  };
}

/** The searches that golden answers are of. */
export function goldenQueries(made: (count: number) => Asked[]): { query: Asked; measured: boolean }[] {
  return made(45).map((query, at) => ({
    query: { ...query, k: Math.min(query.k, 8), explain: at % 3 === 0 },
    measured: at % 5 !== 0,
  }));
}
