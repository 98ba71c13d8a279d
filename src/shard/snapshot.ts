import type { Item } from '../api/items.ts';
import type { SegmentRecord } from '../api/search.ts';
import { FarthingError } from '../domain/error.ts';
import { JsonArray } from '../domain/json-array.ts';
import { SCAN_METHODS, type ScanMethod } from '../domain/search.ts';
import type { PreviousSpace } from '../domain/space.ts';
import { awaitCrossing, crossing, native, type Vocabulary } from '../native/index.ts';
import type { OpenSpaces } from './spaces.ts';

type NativeSnapshot = InstanceType<typeof native.NativeSnapshot>;
type NativeQuery = InstanceType<typeof native.NativeQuery>;
type SearchedHits = Awaited<ReturnType<NativeSearch['runOffThread']>>;

/** Queries of one index: each is ranked, and then rated, and what its words mean there is found out once. */
export type AskedQueries = WeakMap<ListQuery, NativeQuery>;

/** Best first; equal scores in order of insertion. */
export interface RankedList {
  readonly segments: Uint32Array;
  readonly scores: Float32Array;
  /** The place of each hit: `placeAt` reads it. Empty unless `rank` made the list. */
  readonly places: Uint32Array;
  /** True when the list is proved to be the best of all rows. */
  readonly exact: boolean;
  readonly method: ScanMethod;
  /** Rows or postings that were scanned, and rows whose exact score was computed. */
  readonly scanned: number;
  readonly rescored: number;
  /** The highest score that the query's words could reach in this index; 0 for lists of a fixed scale. */
  readonly ceiling: number;
  /** The query with slips in its words corrected, as the list understood it. Absent where there are none. */
  readonly corrected?: string;
}

/** Where a hit belongs, by first Segments. */
export interface Place {
  /** The page or section, or the whole film or recording: one hit. */
  readonly place: number;
  /** The shot of a film; elsewhere the place. */
  readonly moment: number;
  /** Segments of the film or recording; 0 elsewhere. */
  readonly size: number;
  /** Whether its text is about the file and not in it: a date, a name, a camera. */
  readonly note: boolean;
}

const PLACE_NUMBERS = 4;

/** The place of a list's hit. */
export function placeAt({ places }: Pick<RankedList, 'places'>, hit: number): Place {
  const at = PLACE_NUMBERS * hit;
  return {
    place: places[at]!,
    moment: places[at + 1]!,
    size: places[at + 2]!,
    note: places[at + 3] === 1,
  };
}

/** The page or section, or the whole film or recording, of a list's hit: as `placeAt` tells it. */
export function firstOfPlace({ places }: Pick<RankedList, 'places'>, hit: number): number {
  return places[PLACE_NUMBERS * hit]!;
}

/**
 * Query of one ranked list. `language`: ISO 639-3 code of the query's language, where its detection is reliable. Words that
 * `vocabulary` has whole are no slips.
 * `phrasesOf`: words whose quoted phrases every hit of the vectors must have.
 */
export type ListQuery =
  | { readonly space: string; readonly vector: Float32Array; readonly phrasesOf?: string }
  | { readonly words: string; readonly language?: string; readonly vocabulary?: Vocabulary }
  | { readonly fingerprint: Uint8Array; readonly digest: Uint8Array };

/** What a query finds in given Segments. It depends on them, the query and the index: not on how they were found. */
export interface Rating {
  /** In the order of the Segments. NaN: the Segment has no row in what was asked. */
  readonly scores: Float32Array;
  /** Of words: the share of the query's information (inverse document frequencies) that each Segment has. */
  readonly held: Float32Array;
  /** Of words: the share of the query's information that is in codes, numbers and names which each Segment lacks. */
  readonly lacks: Float32Array;
  /** Of words: the Segments that have every word of the query as it is written, if they are few, each with its place. */
  readonly written: ReadonlyMap<number, Place>;
  /** Of words: the sum of the inverse document frequencies of the query's words. */
  readonly information: number;
  /** Of vectors: the scores of a fixed sample of the space's rows; all 0 where they are not sampled. */
  readonly sample: { readonly count: number; readonly mean: number; readonly deviation: number };
}

/** Hits of a proved list, and how many of them the quick way finds. */
export interface Probed {
  readonly expected: number;
  readonly found: number;
}

/** How many places a list should reach, and whether it must be proved at any cost. */
export interface RankOptions {
  readonly depth: number;
  readonly exact?: boolean;
}

export interface RateOptions {
  /** With a sample of a space's scores, which is as long as the rest takes. Default true. */
  readonly sampled?: boolean;
}

/** Searchable Items, their Segments, and the bytes of their files. */
export interface ShardCounts {
  readonly items: number;
  readonly segments: number;
  readonly bytes: number;
}

/** A search with its plan, and what it asks the lists that no vectors answer. */
export type NativeSearch = InstanceType<typeof native.NativeSearch>;

/** The vector of a query for a list of the search's plan. */
export interface ListVector {
  /** Its number in the plan. */
  readonly list: number;
  readonly space: string;
  readonly vector: Float32Array;
}

/** A list of a search's plan as it was scanned. */
export interface SearchedList extends Pick<RankedList, 'scanned' | 'rescored' | 'exact' | 'method'> {}

/** The answer to a search. */
export interface Searched {
  readonly hits: JsonArray;
  /** Places that any list found. */
  readonly found: number;
  /** Segments of the index. */
  readonly segments: number;
  /** Of the first hit; 0 without one. */
  readonly confidence: number;
  readonly scanMs: number;
  readonly fuseMs: number;
  /** In the order of the plan. */
  readonly lists: readonly SearchedList[];
  /** The words with slips corrected. Absent where there are none. */
  readonly corrected?: string;
}

export interface HitsOptions {
  /** Its words are shown: snippets have most of them. */
  readonly query?: string;
  /** RFC 3339 of the Items' end; absent: as it is stored. */
  readonly expiresAt?: string | null;
}

/** One read transaction: it sees whole Items only, never changes and never waits for a writer. Keep it short and close it. */
export interface Snapshot {
  /**
   * The shortest of the best `depth`, 2 × `depth` … 16 × `depth` Segments that reach `depth` places. A small index answers
   * at once. A large one answers from another thread; until then the snapshot may be closed, but not used.
   * @throws shard_corrupt, shard_model_mismatch; interrupted when `signal` aborts; overloaded
   */
  rank(query: ListQuery, options: RankOptions, signal: AbortSignal): RankedList | Promise<RankedList>;
  /**
   * Answers a search: all lists are ranked, rated and fused, and the hits written. As `rank`, a large index answers from another
   * thread. @throws shard_corrupt, shard_model_mismatch; interrupted when `signal` aborts; overloaded
   */
  search(
    search: NativeSearch,
    vectors: readonly ListVector[],
    signal: AbortSignal,
  ): Searched | Promise<Searched>;
  /**
   * Ranks a search's words while its vectors are made, unless that would hold up the caller's thread for too long. The list counts
   * if the index has had no commit when the search is answered. @throws shard_corrupt
   */
  rankWords(search: NativeSearch): void;
  /** What the lists of a search say of each place, as JSON: `bench/calibration` fits the curves to it. @throws shard_corrupt */
  evidence(search: NativeSearch, vectors: readonly ListVector[]): string;
  /** Rates Segments, ascending, by vectors or words; a fingerprint finds what it finds by its list alone. @throws shard_corrupt */
  rate(query: ListQuery, segments: Uint32Array, options?: RateOptions): Rating;
  /**
   * Counts the proved best k, and those of them that the quick way finds; both are 0 where the quick way proves its list.
   * Takes as long as a proof, on another thread.
   */
  probe(query: ListQuery, k: number, signal: AbortSignal): Promise<Probed>;
  /** The exact best k of a space. @throws shard_corrupt, shard_model_mismatch */
  searchVector(space: string, query: Float32Array, k: number): RankedList;
  /** BM25. @throws shard_corrupt */
  searchWords(query: string, k: number): RankedList;
  /** Score 1: the same file; below 1: a near copy. Others are not returned. @throws shard_corrupt */
  searchPicture(fingerprint: Uint8Array, digest: Uint8Array, k: number): RankedList;
  /**
   * What hits show of some Segments, in their order: Items, and Segments with snippets for the query's words. One that the snapshot
   * does not have is left out. @throws shard_corrupt
   */
  hits(segments: Uint32Array, options?: HitsOptions): JsonArray;
  /** The stored records of some Segments. */
  records(segments: Uint32Array): (SegmentRecord | undefined)[];
  item(id: string): Item | undefined;
  /** The first of an Item's Segments, and how many it has: they follow each other. */
  segmentsOf(item: string): { readonly first: number; readonly count: number } | undefined;
  counts(): ShardCounts;
  /** Spaces of previous models, which serve until the model in use has filled its own. */
  previousSpaces(): readonly PreviousSpace[];
  /** Number of rows of each block, of all families: shows the effect of merges. */
  blocks(): number[];
  close(): void;
  [Symbol.dispose](): void;
}

/** How often `rank` may double its depth. The native `places` module has the same bound. */
const DEEPENINGS_MAX = 4;

/** A snapshot as the rest of the server sees it. */
export function openSnapshot(snapshot: NativeSnapshot, spaces: OpenSpaces, asked: AskedQueries): Snapshot {
  const toNative = (query: ListQuery): NativeQuery => {
    const known = asked.get(query) ?? crossing(() => nativeQuery(query, spaces));
    asked.set(query, known);
    return known;
  };
  let known: ShardCounts | undefined;
  const counts = (): ShardCounts => {
    known ??= countsOf(snapshot);
    return known;
  };
  const best = (query: ListQuery, k: number): RankedList => {
    const buffers = hitBuffers(k, counts().segments);
    const asked = toNative(query);
    const hits = crossing(() => snapshot.answer(asked, k, false, true, ...buffers));
    return rankedList(asked, buffers, hits ?? 0, false);
  };
  const close = (): void => snapshot.close();
  const askVectors = (search: NativeSearch, vectors: readonly ListVector[]): void => {
    for (const { list, space, vector } of vectors)
      search.askVector(list, spaces.name(space) ?? space, vector);
  };
  return {
    rank: (query, { depth, exact = false }, signal) => {
      const [asked, buffers] = [toNative(query), hitBuffers(depth * 2 ** DEEPENINGS_MAX, counts().segments)];
      const hits = crossing(() => snapshot.answer(asked, depth, true, exact, ...buffers));
      if (hits === null) return rankOnThread(snapshot, asked, { depth, exact }, buffers, signal);
      return rankedList(asked, buffers, hits, true);
    },
    search: (search, vectors, signal) => {
      const answer = crossing(() => {
        askVectors(search, vectors);
        return search.run(snapshot);
      });
      if (answer) return searched(answer);
      return stoppable(signal, (stop) => search.runOffThread(snapshot, stop)).then(searched);
    },
    rankWords: (search) => crossing(() => search.rankWords(snapshot)),
    evidence: (search, vectors) =>
      crossing(() => {
        askVectors(search, vectors);
        return native.searchEvidence(search, snapshot);
      }),
    rate: (query, segments, { sampled = true } = {}) => {
      const { scores, held, lacks, written, facts } = ratingBuffers(segments.length);
      crossing(() => snapshot.rate(toNative(query), segments, sampled, scores, held, lacks, written, facts));
      const [few = 0, information = 0, count = 0, mean = 0, deviation = 0] = facts;
      const places = written.subarray(few);
      const named = Array.from({ length: few }, (_, at) => [written[at]!, placeAt({ places }, at)] as const);
      const sample = { count, mean, deviation };
      return { scores, held, lacks, written: new Map(named), information, sample };
    },
    probe: (query, k, signal) => probeOnThread(snapshot, toNative(query), k, signal),
    searchVector: (space, vector, k) => best({ space, vector }, k),
    searchWords: (words, k) => best({ words, language: reliableLanguage(words) }, k),
    searchPicture: (fingerprint, digest, k) => best({ fingerprint, digest }, k),
    hits: (segments, { query, expiresAt } = {}) => {
      const { json, count } = crossing(() => snapshot.hits(segments, query, expiresAt));
      return new JsonArray(json, count);
    },
    records: (segments) =>
      crossing(() => native.storedSegments(snapshot, segments)).map((record) =>
        parsed<SegmentRecord>(record),
      ),
    item: (id) => parsed<Item>(crossing(() => snapshot.item(id))),
    segmentsOf: (item) => {
      const found = crossing(() => snapshot.segmentsOfItem(item));
      return found ? { first: found[0], count: found[1] } : undefined;
    },
    counts,
    previousSpaces: () => spaces.serving(snapshot),
    blocks: () => crossing(() => snapshot.blocks()),
    close,
    [Symbol.dispose]: close,
  };
}

type HitBuffers = [segments: Uint32Array, scores: Float32Array, places: Uint32Array, facts: Uint32Array];
const FACTS = 5;
const RATING_FACTS = 5;
/** Segments that have every word as it is written are named up to this number, as in the native `as_written`. */
const WRITTEN_MAX = 10;

/** Arrays in one buffer for the native side to fill, as large as the answer can be. */
function hitBuffers(k: number, segments: number): HitBuffers {
  if (!Number.isSafeInteger(k) || k < 0) throw new FarthingError('internal', `${k} is not a number of hits.`);
  const hitsMax = Math.min(k, segments);
  const buffer = new ArrayBuffer(4 * ((2 + PLACE_NUMBERS) * hitsMax + FACTS));
  return [
    new Uint32Array(buffer, 0, hitsMax),
    new Float32Array(buffer, 4 * hitsMax, hitsMax),
    new Uint32Array(buffer, 8 * hitsMax, PLACE_NUMBERS * hitsMax),
    new Uint32Array(buffer, 4 * (2 + PLACE_NUMBERS) * hitsMax, FACTS),
  ];
}

/** Arrays in one buffer for the native side to fill: each of its own would cost a microsecond. */
function ratingBuffers(segments: number) {
  const places = (1 + PLACE_NUMBERS) * WRITTEN_MAX;
  const buffer = new ArrayBuffer(4 * (3 * segments + places + RATING_FACTS));
  return {
    scores: new Float32Array(buffer, 0, segments),
    held: new Float32Array(buffer, 4 * segments, segments),
    lacks: new Float32Array(buffer, 8 * segments, segments),
    written: new Uint32Array(buffer, 12 * segments, places),
    facts: new Float32Array(buffer, 4 * (3 * segments + places), RATING_FACTS),
  };
}

function rankedList(
  query: NativeQuery,
  [segments, scores, places, facts]: HitBuffers,
  hits: number,
  withPlaces: boolean,
): RankedList {
  const [exact = 0, scanned = 0, rescored = 0, , method = 0] = facts;
  const corrected = query.corrected();
  return {
    segments: segments.subarray(0, hits),
    scores: scores.subarray(0, hits),
    places: places.subarray(0, withPlaces ? PLACE_NUMBERS * hits : 0),
    exact: exact === 1,
    method: SCAN_METHODS[method] ?? 'proved',
    scanned,
    rescored,
    ceiling: new Float32Array(facts.buffer, facts.byteOffset, FACTS)[3] ?? 0,
    ...(corrected !== null && { corrected }),
  };
}

const SEARCH_FACTS = 6;
const LIST_FACTS = 4;

function searched({ json, corrected, facts }: SearchedHits): Searched {
  const [hits = 0, found = 0, segments = 0, confidence = 0, scanMs = 0, fuseMs = 0] = facts;
  const lists: SearchedList[] = [];
  for (let at = SEARCH_FACTS; at < facts.length; at += LIST_FACTS)
    lists.push({
      scanned: facts[at]!,
      rescored: facts[at + 1]!,
      exact: facts[at + 2] === 1,
      method: SCAN_METHODS[facts[at + 3]!] ?? 'proved',
    });
  return {
    hits: new JsonArray(json, hits),
    found,
    segments,
    confidence,
    scanMs,
    fuseMs,
    lists,
    ...(typeof corrected === 'string' && { corrected }),
  };
}

function nativeQuery(query: ListQuery, spaces: OpenSpaces): NativeQuery {
  if ('vector' in query)
    return native.NativeQuery.vector(spaces.name(query.space) ?? query.space, query.vector, query.phrasesOf);
  if ('words' in query) return native.NativeQuery.words(query.words, query.language, query.vocabulary);
  return native.NativeQuery.picture(query.fingerprint, query.digest);
}

async function rankOnThread(
  snapshot: NativeSnapshot,
  query: NativeQuery,
  { depth, exact }: Required<RankOptions>,
  buffers: HitBuffers,
  signal: AbortSignal,
): Promise<RankedList> {
  const hits = await stoppable(signal, (stop) =>
    snapshot.answerOffThread(query, depth, true, exact, stop, ...buffers),
  );
  return rankedList(query, buffers, hits, true);
}

async function probeOnThread(
  snapshot: NativeSnapshot,
  query: NativeQuery,
  k: number,
  signal: AbortSignal,
): Promise<Probed> {
  const [expected = 0, found = 0] = await stoppable(signal, (stop) =>
    snapshot.probeOffThread(query, k, stop),
  );
  return { expected, found };
}

/** Runs a search on another thread; it stops soon after `signal` aborts. */
async function stoppable<T>(
  signal: AbortSignal,
  work: (stop: InstanceType<typeof native.SearchStop>) => Promise<T>,
): Promise<T> {
  const stop = new native.SearchStop();
  const giveUp = (): void => stop.stop();
  if (signal.aborted) giveUp();
  signal.addEventListener('abort', giveUp);
  try {
    return await awaitCrossing(() => work(stop));
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}

function reliableLanguage(query: string): string | undefined {
  const detected = native.detectLanguage(query);
  return detected?.reliable ? detected.language : undefined;
}

function countsOf(snapshot: NativeSnapshot): ShardCounts {
  const [items = 0, segments = 0, bytes = 0] = crossing(() => snapshot.counts());
  return { items, segments, bytes };
}

function parsed<T>(json: string | null | undefined): T | undefined {
  return json === null || json === undefined ? undefined : (JSON.parse(json) as T);
}
