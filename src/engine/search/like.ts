import { setImmediate as nextTurn } from 'node:timers/promises';
import { FarthingError } from '@farthing/protocol/error';
import type { LikePlace } from '@farthing/protocol/labels/like';
import type { SegmentRecord } from '@farthing/protocol/schema/search';
import type { ListVector, Snapshot } from '../shard/snapshot.ts';
import type { ServedList } from './lists.ts';

/** What is stored of an item or a place, as a query. */
export interface StoredQuery {
  /** The words that its passages have most. Absent where there are none. */
  readonly query?: string;
  readonly vectors: readonly ListVector[];
  /** Its Segments, in runs from a first to a last: they are not found. */
  readonly itself: readonly (readonly [first: number, last: number])[];
}

/** Segments that stand for a whole item, evenly spread. */
const SEGMENTS_MAX = 64;
/** Segments that are looked at for a page or a second, from the beginning and, for pictures, from the end. */
const LOOKED_AT_MAX = 4096;
const LOOKED_AT_PER_TURN = 256;
/** Words of the query. More find nothing else and cost more. */
const WORDS_MAX = 32;
const WORD = /[\p{L}\p{N}][\p{L}\p{N}\p{M}'’-]*/gu;
/** Shorter words tell little. */
const WORD_LENGTH_MIN = 4;

/**
 * The query that is like an item or a place of it: the mean of its vectors in each list's space, and its words.
 * @param lists those that may be asked
 * @throws field_invalid for an item or a place that is not there
 */
export async function storedQuery(
  snapshot: Snapshot,
  like: LikePlace,
  lists: readonly ServedList[],
): Promise<StoredQuery> {
  const range = snapshot.segmentsOf(like.item);
  if (!range || range.count === 0)
    throw absent('item', `the index has no searchable item ${JSON.stringify(like.item)}`);
  const numbers = await segmentsOf(snapshot, like, range);
  const spread = spreadOver(numbers, SEGMENTS_MAX);
  const texts = snapshot.records(spread).flatMap((record) => record?.text ?? []);
  const query = wordsOf(texts);
  const vectors: ListVector[] = [];
  for (const [list, { space }] of lists.entries()) {
    if (space === undefined) continue;
    const vector = meanOf(await snapshot.vectors(space, spread));
    if (vector) vectors.push({ list, space, vector });
  }
  return { ...(query !== '' && { query }), vectors, itself: runsOf(numbers) };
}

function runsOf(numbers: Uint32Array): [first: number, last: number][] {
  const runs: [number, number][] = [];
  for (const number of numbers) {
    const before = runs.at(-1);
    if (before && before[1] === number - 1) before[1] = number;
    else runs.push([number, number]);
  }
  return runs;
}

/** The Segments of a place, ascending. */
async function segmentsOf(
  snapshot: Snapshot,
  { page, time_s, char_start, passage }: LikePlace,
  { first, count }: { readonly first: number; readonly count: number },
): Promise<Uint32Array> {
  if (passage !== undefined) {
    if (passage >= count) throw absent('passage', `the item has no passage ${passage}`);
    return Uint32Array.of(first + passage);
  }
  if (page === undefined && time_s === undefined && char_start === undefined)
    return Uint32Array.from({ length: count }, (_, index) => first + index);
  const found: number[] = [];
  const isThere = ({ locator }: SegmentRecord) => {
    if (page !== undefined) return locator.page === page;
    return time_s === undefined ? locator.char_start === char_start : isAt(locator, time_s);
  };
  for (let from = 0; from < count; from += LOOKED_AT_PER_TURN) {
    // What lies between the beginning and the end of a very long file is not looked at.
    if (from >= LOOKED_AT_MAX && from < count - LOOKED_AT_MAX) from = count - LOOKED_AT_MAX;
    if (from > 0) await nextTurn();
    const length = Math.min(LOOKED_AT_PER_TURN, count - from);
    const numbers = Uint32Array.from({ length }, (_, index) => first + from + index);
    for (const [index, record] of snapshot.records(numbers).entries())
      if (record && isThere(record)) found.push(numbers[index]!);
  }
  if (found.length === 0) {
    if (page !== undefined) throw absent('page', `the item has no page ${page}`);
    if (time_s !== undefined) throw absent('time_s', `the item has nothing at ${time_s} s`);
    throw absent('char_start', `no passage of the item begins at ${char_start}`);
  }
  return Uint32Array.from(found);
}

function isAt({ time_s: start, time_end_s: end }: SegmentRecord['locator'], time: number): boolean {
  return start !== undefined && time >= start && (time === start || time < (end ?? start));
}

function spreadOver(numbers: Uint32Array, most: number): Uint32Array {
  if (numbers.length <= most) return numbers;
  return Uint32Array.from({ length: most }, (_, at) => numbers[Math.floor((at * numbers.length) / most)]!);
}

/** The words that texts have most, in the order in which they come; all of them where they are few. */
function wordsOf(texts: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const [word] of texts.flatMap((text) => [...text.matchAll(WORD)])) {
    if (word.length < WORD_LENGTH_MIN && /^\p{Script=Latin}/u.test(word)) continue;
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const most = [...counts].sort(([, one], [, other]) => other - one).slice(0, WORDS_MAX);
  const chosen = new Set(most.map(([word]) => word));
  return [...counts.keys()].filter((word) => chosen.has(word)).join(' ');
}

/** The mean of stored vectors, of unit length. Undefined without any. */
function meanOf(stored: readonly (Buffer | undefined)[]): Float32Array | undefined {
  const rows = stored.flatMap((row) => row ?? []);
  if (rows.length === 0) return undefined;
  const mean = new Float32Array(rows[0]!.byteLength / 4);
  for (const row of rows)
    for (const index of mean.keys()) mean[index] = mean[index]! + row.readFloatLE(4 * index);
  const length = Math.hypot(...mean);
  return length === 0 ? undefined : mean.map((value) => value / length);
}

function absent(part: string, what: string): FarthingError {
  return new FarthingError('field_invalid', `like.${part}: ${what}.`, { facts: { field: 'like' } });
}
