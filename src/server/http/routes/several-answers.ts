import { JsonArray } from '@farthing/engine/json-array';
import type { SearchResult } from '@farthing/engine/search/search';
import { roundedStages } from '@farthing/protocol/clock';
import type { SearchAnswer } from '@farthing/protocol/schema/search';
import { shownJson } from '../exchange/json-text.ts';

/** How the answers to several questions are shown. */
export interface Several {
  /** One list of all hits instead of a list for each question. */
  readonly fused: boolean;
  /** Hits of the one list, and UTF-16 units of its texts. */
  readonly k: number;
  readonly maxChars: number | undefined;
}

/** The fields of a hit that fusion reads. The rest is passed on. */
interface FusedHit {
  readonly item: { readonly id: string };
  readonly confidence: number;
  readonly locator: { readonly page?: number; readonly char_start?: number; readonly time_s?: number };
  readonly text?: string;
  queries?: number[];
}

/** Members of one question's answer, in the order of the description. */
type QuestionAnswer = Omit<NonNullable<SearchAnswer['answers']>[number], 'hits'>;

/** A result, and the answers to each of several questions. */
export interface ShownResult extends Omit<SearchResult, 'answers'> {
  readonly answers?: JsonArray;
}

/** Puts the results of several questions, in their order, into one. */
export function severalResult(
  results: readonly SearchResult[],
  several: Several,
  started: number,
): ShownResult {
  const fused = several.fused ? fusedHits(results, several) : undefined;
  const answered = results.find((result) => result.answered) ?? results[0]!;
  const { reason } = answered;
  return {
    hits: fused?.hits ?? JsonArray.EMPTY,
    answered: answered.answered,
    ...(reason && { reason }),
    exact: results.every(({ exact }) => exact),
    bounds: boundsOf(results),
    ...(fused && several.maxChars !== undefined && { truncated: fused.truncated }),
    searchable: results.some(({ searchable }) => searchable),
    latency_ms: performance.now() - started,
    timing: {},
    answers: answersOf(results, several),
  };
}

/** A family is proved where each question has it proved. */
function boundsOf(results: readonly SearchResult[]): SearchAnswer['bounds'] {
  const all = results.flatMap(({ bounds }) => Object.entries(bounds));
  return Object.fromEntries(all.sort(([, one], [, other]) => Number(other.exact) - Number(one.exact)));
}

/** The answers as JSON; their hits are copied as they are. */
function answersOf(results: readonly SearchResult[], { fused }: Several): JsonArray {
  const pieces: Uint8Array[] = [];
  for (const [at, result] of results.entries()) {
    const {
      answered,
      reason,
      corrected,
      relaxed,
      exact,
      bounds,
      truncated,
      not_searched,
      timing,
      explanation,
    } = result;
    const rest: QuestionAnswer = {
      answered,
      ...(reason && { reason }),
      ...(corrected !== undefined && { corrected }),
      ...(relaxed && { relaxed }),
      exact,
      bounds,
      ...(truncated !== undefined && { truncated }),
      ...(not_searched && { not_searched }),
      timing: roundedStages(timing),
      ...(explanation && { explanation }),
    };
    pieces.push(Buffer.from(`${at > 0 ? ',' : '['}{${fused ? '' : '"hits":'}`));
    if (!fused) pieces.push(result.hits.bytes, Buffer.from(','));
    pieces.push(Buffer.from(shownJson(rest).slice(1)));
  }
  pieces.push(Buffer.from(']'));
  return new JsonArray(Buffer.concat(pieces), results.length);
}

/**
 * The hits of all questions as one list. A hit that several questions found counts with its best confidence, and says which found
 * it; of equal ones, what more questions found comes first.
 */
function fusedHits(
  results: readonly SearchResult[],
  { k, maxChars = Number.POSITIVE_INFINITY }: Several,
): { hits: JsonArray; truncated: boolean } {
  const found = new Map<string, FusedHit & { queries: number[] }>();
  for (const [question, { hits }] of results.entries())
    for (const hit of hits.toJSON() as FusedHit[]) {
      const key = placeOf(hit);
      const before = found.get(key);
      const queries = [...(before?.queries ?? []), question];
      const better = before && before.confidence >= hit.confidence ? before : hit;
      found.set(key, { ...better, queries });
    }
  const ordered = [...found.values()].sort(
    (one, other) => other.confidence - one.confidence || other.queries.length - one.queries.length,
  );
  let [left, truncated] = [maxChars, results.some((result) => result.truncated)];
  const shown = ordered.slice(0, k).filter(({ text = '' }) => {
    if (text.length > left) [left, truncated] = [-1, true];
    left -= text.length;
    return left >= 0 || text === '';
  });
  return { hits: new JsonArray(Buffer.from(shownJson(shown)), shown.length), truncated };
}

/** The page, the passage, or the whole film or recording that a hit is. */
function placeOf({ item, locator: { page, time_s, char_start } }: FusedHit): string {
  const place = page !== undefined ? `p${page}` : time_s !== undefined ? 't' : `c${char_start}`;
  return `${item.id} ${place}`;
}
