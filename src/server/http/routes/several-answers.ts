import { JsonArray } from '@farthing/engine/json-array';
import type { SearchResult } from '@farthing/engine/search/search';
import { roundedStages } from '@farthing/protocol/clock';
import type { Metadata, Scalar } from '@farthing/protocol/labels/metadata';
import { fieldOf, type Order } from '@farthing/protocol/labels/order';
import type { SearchAnswer } from '@farthing/protocol/schema/search';
import { isLikely } from '@farthing/protocol/search';
import { shownJson } from '../exchange/json-text.ts';

/** How the answers to several questions are shown. */
export interface Several {
  /** One list of all hits instead of a list for each question. */
  readonly fused: boolean;
  /** Hits of the one list, and UTF-16 units of its texts. */
  readonly k: number;
  readonly maxChars: number | undefined;
  /** That of all questions. */
  readonly order?: Order | undefined;
  /** It holds for hits that are not likely, too: a least confidence was given. */
  readonly isEachOrdered?: boolean;
}

/** The fields of a hit that fusion reads. The rest is passed on. */
interface FusedHit {
  readonly item: { readonly id: string; readonly created_at?: string; readonly metadata?: Metadata };
  readonly confidence: number;
  readonly weight?: number;
  readonly likeness?: number;
  likely: boolean;
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
  { k, maxChars = Number.POSITIVE_INFINITY, order, isEachOrdered = false }: Several,
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
    (one, other) => weighed(other) - weighed(one) || other.queries.length - one.queries.length,
  );
  const rule = {
    answered: results.some(({ answered }) => answered),
    best: ordered[0] ? weighed(ordered[0]) : 0,
  };
  for (const hit of ordered) hit.likely = isLikely({ ...hit, confidence: weighed(hit) }, rule);
  if (order && !order.decay) orderByValue(ordered, order, isEachOrdered);
  let [left, truncated] = [maxChars, results.some((result) => result.truncated)];
  const shown = ordered.slice(0, k).filter(({ text = '' }) => {
    if (text.length > left) [left, truncated] = [-1, true];
    left -= text.length;
    return left >= 0 || text === '';
  });
  return { hits: new JsonArray(Buffer.from(shownJson(shown)), shown.length), truncated };
}

/** The confidence as it counts in the order. */
function weighed({ confidence, weight = 1 }: FusedHit): number {
  return confidence * weight;
}

/** Puts hits into the order of a value, as the index does: the likely ones by it (with a least confidence all), the others behind. */
function orderByValue(hits: FusedHit[], { by, direction }: Order, isEach: boolean): void {
  const field = fieldOf(by);
  const valueOfHit = ({ item }: FusedHit) => (field === undefined ? item.created_at : item.metadata?.[field]);
  const sign = direction === 'ascending' ? 1 : -1;
  const places = new Map(hits.map((hit, at) => [hit, at]));
  hits.sort((one, other) => {
    const [first, second] = [one, other].map((hit) => isEach || hit.likely);
    if (first !== second) return first ? -1 : 1;
    const byValue = first ? compareValues(valueOfHit(one), valueOfHit(other), sign) : 0;
    return byValue || places.get(one)! - places.get(other)!;
  });
}

const KINDS = ['boolean', 'number', 'string'];

/** Values of two kinds go by their kinds; what has none comes last. */
function compareValues(one: Scalar | undefined, other: Scalar | undefined, sign: number): number {
  if (one === undefined || other === undefined)
    return Number(one === undefined) - Number(other === undefined);
  const kinds = KINDS.indexOf(typeof one) - KINDS.indexOf(typeof other);
  if (kinds !== 0 || one === other) return sign * kinds;
  return sign * (typeof one === 'string' ? (one < String(other) ? -1 : 1) : Number(one) - Number(other));
}

/** The page, the passage, or the whole film or recording that a hit is. */
function placeOf({ item, locator: { page, time_s, char_start } }: FusedHit): string {
  const place = page !== undefined ? `p${page}` : time_s !== undefined ? 't' : `c${char_start}`;
  return `${item.id} ${place}`;
}
