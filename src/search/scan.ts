import type { Bound, ListScan, SearchAnswer } from '../api/search.ts';
import { FarthingError } from '../domain/error.ts';
import { type Family, LISTS } from '../domain/family.ts';
import { RECALL_HELD } from '../domain/search.ts';
import type { ListQuery, RankedList, Snapshot } from '../shard/snapshot.ts';
import type { EvidenceList } from './evidence.ts';
import type { ServedList } from './lists.ts';
import { listQueryOf, type QueryVectors, type QueryWords, wordsQueryOf } from './query-vectors.ts';
import type { UnprovedList } from './recall-probe.ts';
import { isForeign } from './relevance.ts';

/** A query as lists can be asked with it. */
export interface EncodedQuery {
  readonly words: QueryWords;
  readonly vectors: QueryVectors;
  /** What was ranked while it was encoded. */
  readonly early?: RankedWords;
}

/** The lists of a search as one snapshot ranks them. */
export interface ScannedLists {
  readonly found: readonly EvidenceList[];
  readonly scans: readonly ListScan[];
  readonly unproved: readonly UnprovedList[];
  /** The query with slips in its words corrected. */
  readonly corrected?: string;
}

export interface ScanOptions {
  /** Places that each list should reach. */
  readonly depth: number;
  /** Every list is proved. */
  readonly exact: boolean;
}

/** The list of words as a state of the index ranks it. */
export interface RankedWords {
  readonly state: number;
  readonly query: ListQuery;
  readonly ranking: RankedList;
}

/** Ranks the words; undefined where that takes long. */
export function rankWords(
  snapshot: Snapshot,
  words: QueryWords,
  options: ScanOptions,
): RankedWords | undefined {
  const query = wordsQueryOf(words);
  const ranking = snapshot.rankNow(query, options);
  return ranking && { state: snapshot.state(), query, ranking };
}

/**
 * Ranks the lists one after the other. What was ranked early counts if the index is still the same.
 * @throws request_malformed once the client has left
 */
export async function scanLists(
  snapshot: Snapshot,
  lists: readonly ServedList[],
  { words, vectors, early }: EncodedQuery,
  { depth, exact }: ScanOptions,
  signal: AbortSignal,
): Promise<ScannedLists> {
  const known = early?.state === snapshot.state() ? early : undefined;
  const found: EvidenceList[] = [];
  const scans: ListScan[] = [];
  const unproved: UnprovedList[] = [];
  let corrected: string | undefined;
  for (const list of lists) {
    const before = list.traits.scans === 'words' ? known : undefined;
    const listQuery = before?.query ?? listQueryOf(list, words, vectors);
    const ranking = before?.ranking ?? (await rank(snapshot, listQuery, { depth, exact }, signal));
    const isRated = list.traits.scans !== 'fingerprints';
    // A sample of the index's scores is used only for models without a scale of their own.
    const sampled = list.scale === undefined;
    const rate = isRated
      ? (segments: Uint32Array) => snapshot.rate(listQuery, segments, { sampled })
      : undefined;
    found.push({ list, ranking, rate, foreign: isForeign(list, words.language) });
    const { scanned, rescored, method } = ranking;
    corrected ??= ranking.corrected;
    const slips = ranking.corrected !== undefined && { corrected: ranking.corrected };
    scans.push({ list: list.name, ...slips, scanned, rescored, exact: ranking.exact, method });
    if (!ranking.exact) unproved.push({ list: list.name, method, query: listQuery, depth });
  }
  return { found, scans, unproved, ...(corrected !== undefined && { corrected }) };
}

/** A ranked list; a promise only where the index is so large that another thread ranks it. */
function rank(
  snapshot: Snapshot,
  query: ListQuery,
  options: { readonly depth: number; readonly exact: boolean },
  signal: AbortSignal,
): RankedList | Promise<RankedList> {
  const ranking = snapshot.rank(query, options, signal);
  if (!(ranking instanceof Promise)) return ranking;
  return ranking.catch((error: unknown) => {
    throw signal.aborted ? clientLeft() : error;
  });
}

/** What holds for each family: it is proved when each of its lists is. */
export function boundsOf(scans: readonly ListScan[]): SearchAnswer['bounds'] {
  const bounds: Partial<Record<Family, Bound>> = {};
  for (const { list, exact } of scans) {
    const { family } = LISTS[list];
    if (!exact) bounds[family] = { exact, recall: RECALL_HELD };
    else bounds[family] ??= { exact };
  }
  return bounds;
}

export function clientLeft(): FarthingError {
  return new FarthingError('request_malformed', 'The client closed the connection.');
}
