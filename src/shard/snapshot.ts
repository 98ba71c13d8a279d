import { FarthingError } from '../domain/error.ts';
import type { Item } from '../domain/item.ts';
import { SCAN_METHODS, type ScanMethod } from '../domain/search.ts';
import type { SegmentRecord, ShownSegment } from '../domain/segment.ts';
import { awaitCrossing, crossing, native } from '../native/index.ts';
import type { FormerSpace, OpenSpaces } from './spaces.ts';

type NativeSnapshot = InstanceType<typeof native.NativeSnapshot>;
type NativeQuery = InstanceType<typeof native.NativeQuery>;

/** Best first; equal scores in order of insertion. */
export interface RankedList {
  readonly segments: Uint32Array;
  readonly scores: Float32Array;
  /** First Segment in the place of each hit: equal for one place of one Item. Empty where places were not asked for. */
  readonly places: Uint32Array;
  /** True when these are proved to be the best of all rows. */
  readonly exact: boolean;
  readonly method: ScanMethod;
  /** Rows, or postings, that were looked at; and rows whose exact score was computed. */
  readonly scanned: number;
  readonly rescored: number;
  /** The highest score that a query by words could have in this index; 0 for lists whose scores have a scale of their own. */
  readonly ceiling: number;
}

/** What a ranked list is asked with. `language`: ISO 639-3 code of the query's language, where it is certain. */
export type Question =
  | { readonly space: string; readonly vector: Float32Array }
  | { readonly words: string; readonly language?: string }
  | { readonly fingerprint: Uint8Array; readonly digest: Uint8Array };

export interface Probed {
  readonly expected: number;
  readonly found: number;
}

/** How deep a list is to be; `exact`: proved, whatever it costs. */
export interface Want {
  readonly depth: number;
  readonly exact?: boolean;
}

/** Searchable Items, their Segments, and the bytes of their files. */
export interface ShardCounts {
  readonly items: number;
  readonly segments: number;
  readonly bytes: number;
}

/** Null for what is not there (any more). */
export interface ShownHits {
  /** In the order of the Segments that were asked for; `item` is an index into `items`. */
  readonly records: readonly ((ShownSegment & { readonly item: number }) | null)[];
  readonly items: readonly (Item | null)[];
}

/** One read transaction: sees whole Items only, never changes, never waits for a writer. Short-lived; always to be closed. */
export interface Snapshot {
  /**
   * The shortest of the best `depth`, 2 × `depth` … 16 × `depth` Segments that reach `depth` places. Small indexes answer at
   * once, large ones from a thread of their own: nothing else may be asked of the snapshot until then, but it may be closed.
   * @throws shard_corrupt, shard_model_mismatch; interrupted when `signal` gave it up; overloaded
   */
  rank(question: Question, want: Want, signal: AbortSignal): RankedList | Promise<RankedList>;
  /**
   * How many of the proved best k there are, and how many of them the quick way finds; 0 where that one proves, too. Takes
   * as long as a proof, on a thread of its own.
   */
  probe(question: Question, k: number, signal: AbortSignal): Promise<Probed>;
  /** The exact best k of a space. @throws shard_corrupt, shard_model_mismatch */
  searchVector(space: string, query: Float32Array, k: number): RankedList;
  /** BM25. @throws shard_corrupt */
  searchWords(query: string, k: number): RankedList;
  /** Score 1: the same file; below 1: a near copy. Others are not returned. @throws shard_corrupt */
  searchPicture(fingerprint: Uint8Array, digest: Uint8Array, k: number): RankedList;
  /** What hits show: their Segments, with snippets for the words of a query, and their Items. @throws shard_corrupt */
  hits(segments: Uint32Array, query?: string): ShownHits;
  /** What is stored of some Segments, whole. */
  records(segments: Uint32Array): (SegmentRecord | undefined)[];
  item(id: string): Item | undefined;
  counts(): ShardCounts;
  /** Spaces that were filled by another model than the one in use, and serve until its vectors are all there. */
  formers(): readonly FormerSpace[];
  /** Rows of each block, of all families: what merges have made of the index. */
  blocks(): number[];
  close(): void;
  [Symbol.dispose](): void;
}

/** How often `rank` may double its depth; native/src/shard/places.rs has the same. */
const DEEPENINGS_MAX = 4;
/**
 * What is searched on the caller's thread: about half a millisecond on one core of 2.5 GHz without VNNI (`node
 * bench/search/main.ts`, `cargo run --example scan_speed`). 16,384 vectors of 384 dimensions, so many passages, so many pictures.
 */
const VECTOR_ELEMENTS_AT_ONCE_MAX = 16_384 * 384;
const PASSAGES_AT_ONCE_MAX = 32_768;
const PICTURES_AT_ONCE_MAX = 131_072;
/** Characters of a query that cost no more than that; and how many times as much one costs whose phrases must stand in order. */
const QUERY_AT_ONCE = 128;
const PHRASES_COST = 64;
/** What may begin a phrase: as in native/src/words/query.rs. */
const QUOTES = /["“”„«»]/;

/** A snapshot as the rest of the server sees it. */
export function openSnapshot(snapshot: NativeSnapshot, spaces: OpenSpaces): Snapshot {
  const nativeQuery = (question: Question): NativeQuery => asked(question, spaces);
  let counts: ShardCounts | undefined;
  const known = (): ShardCounts => {
    counts ??= countsOf(snapshot);
    return counts;
  };
  const best = (question: Question, k: number): RankedList => {
    const out = room(k, known().segments);
    return listed(
      out,
      crossing(() => snapshot.answer(nativeQuery(question), k, false, true, ...out)),
      false,
    );
  };
  const close = (): void => snapshot.close();
  return {
    rank: (question, { depth, exact = false }, signal) => {
      const out = room(depth * 2 ** DEEPENINGS_MAX, known().segments);
      const asking = crossing(() => nativeQuery(question));
      if (!isLong(question, known().segments))
        return listed(
          out,
          crossing(() => snapshot.answer(asking, depth, true, exact, ...out)),
          true,
        );
      return rankApart(snapshot, asking, { depth, exact }, out, signal);
    },
    probe: (question, k, signal) =>
      probeApart(
        snapshot,
        crossing(() => nativeQuery(question)),
        k,
        signal,
      ),
    searchVector: (space, vector, k) => best({ space, vector }, k),
    searchWords: (words, k) => best({ words, language: reliableLanguage(words) }, k),
    searchPicture: (fingerprint, digest, k) => best({ fingerprint, digest }, k),
    hits: (segments, query) => crossing(() => JSON.parse(snapshot.hits(segments, query)) as ShownHits),
    records: (segments) =>
      crossing(() => native.storedSegments(snapshot, segments)).map((record) =>
        parsed<SegmentRecord>(record),
      ),
    item: (id) => parsed<Item>(crossing(() => snapshot.item(id))),
    counts: known,
    formers: () => spaces.serving(snapshot),
    blocks: () => crossing(() => snapshot.blocks()),
    close,
    [Symbol.dispose]: close,
  };
}

type Out = [segments: Uint32Array, scores: Float32Array, places: Uint32Array, facts: Uint32Array];
const FACTS = 5;

/** Arrays for the native side to fill, no larger than the answer can be; all in one buffer. */
function room(k: number, segments: number): Out {
  if (!Number.isSafeInteger(k) || k < 0) throw new FarthingError('internal', `${k} is no number of hits.`);
  const hitsMax = Math.min(k, segments);
  const buffer = new ArrayBuffer(4 * (3 * hitsMax + FACTS));
  return [
    new Uint32Array(buffer, 0, hitsMax),
    new Float32Array(buffer, 4 * hitsMax, hitsMax),
    new Uint32Array(buffer, 8 * hitsMax, hitsMax),
    new Uint32Array(buffer, 12 * hitsMax, FACTS),
  ];
}

function listed([segments, scores, places, facts]: Out, hits: number, withPlaces: boolean): RankedList {
  const [exact = 0, scanned = 0, rescored = 0, , method = 0] = facts;
  return {
    segments: segments.subarray(0, hits),
    scores: scores.subarray(0, hits),
    places: places.subarray(0, withPlaces ? hits : 0),
    exact: exact === 1,
    method: SCAN_METHODS[method] ?? 'proved',
    scanned,
    rescored,
    ceiling: new Float32Array(facts.buffer, facts.byteOffset, FACTS)[3] ?? 0,
  };
}

function asked(question: Question, spaces: OpenSpaces): NativeQuery {
  if ('vector' in question)
    return native.NativeQuery.vector(spaces.name(question.space) ?? question.space, question.vector);
  if ('words' in question) return native.NativeQuery.words(question.words, question.language);
  return native.NativeQuery.picture(question.fingerprint, question.digest);
}

function isLong(question: Question, segments: number): boolean {
  if ('vector' in question) return segments * question.vector.length > VECTOR_ELEMENTS_AT_ONCE_MAX;
  if ('fingerprint' in question) return segments > PICTURES_AT_ONCE_MAX;
  const { words } = question;
  const cost = Math.ceil(words.length / QUERY_AT_ONCE) * (QUOTES.test(words) ? PHRASES_COST : 1);
  return segments * cost > PASSAGES_AT_ONCE_MAX;
}

async function rankApart(
  snapshot: NativeSnapshot,
  question: NativeQuery,
  { depth, exact }: Required<Want>,
  out: Out,
  signal: AbortSignal,
): Promise<RankedList> {
  const hits = await stoppable(signal, (stop) =>
    snapshot.answerOffThread(question, depth, true, exact, stop, ...out),
  );
  return listed(out, hits, true);
}

async function probeApart(
  snapshot: NativeSnapshot,
  question: NativeQuery,
  k: number,
  signal: AbortSignal,
): Promise<Probed> {
  const [expected = 0, found = 0] = await stoppable(signal, (stop) =>
    snapshot.probeOffThread(question, k, stop),
  );
  return { expected, found };
}

/** Runs a search on another thread, which ends soon after `signal` is given. */
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
