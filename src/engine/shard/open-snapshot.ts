import { awaitCrossing, crossing, native } from '@farthing/native';
import { FarthingError } from '@farthing/protocol/error';
import type { Item } from '@farthing/protocol/schema/items';
import type { SegmentRecord } from '@farthing/protocol/schema/search';
import { type GrepInput, SCAN_METHODS } from '@farthing/protocol/search';
import { JsonArray } from '../json-array.ts';
import type {
  Grepped,
  ListQuery,
  ListVector,
  NativeSearch,
  Probed,
  RankedList,
  RankOptions,
  Searched,
  SearchedList,
  ShardCounts,
  Snapshot,
} from './snapshot.ts';
import type { OpenSpaces } from './spaces.ts';

type NativeSnapshot = InstanceType<typeof native.NativeSnapshot>;
type NativeQuery = InstanceType<typeof native.NativeQuery>;
type SearchedHits = Awaited<ReturnType<NativeSearch['runOffThread']>>;

/** Number of times that `rank` may double its depth. The native `places` module has the same bound. */
const DEEPENINGS_MAX = 4;

/** A snapshot as the rest of the server sees it. */
export function openSnapshot(snapshot: NativeSnapshot, spaces: OpenSpaces): Snapshot {
  const toNative = (query: ListQuery): NativeQuery => crossing(() => nativeQuery(query, spaces));
  let known: ShardCounts | undefined;
  const counts = (): ShardCounts => {
    known ??= countsOf(snapshot);
    return known;
  };
  const best = (query: ListQuery, k: number): RankedList => {
    const buffers = hitBuffers(k, counts().segments);
    const asked = toNative(query);
    const hits = crossing(() => snapshot.answer(asked, k, false, true, ...buffers));
    return rankedList(buffers, hits ?? 0);
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
      return rankedList(buffers, hits);
    },
    search: (search, vectors, { signal, mayBlock }) => {
      const answer = crossing(() => {
        askVectors(search, vectors);
        return mayBlock ? search.run(snapshot) : null;
      });
      if (answer) return searched(answer);
      return stoppable(signal, (stop) => search.runOffThread(snapshot, stop)).then(searched);
    },
    grep: (input, expiresAt, signal) => grepOnThread(snapshot, input, expiresAt, signal),
    evidence: (search, vectors) =>
      crossing(() => {
        askVectors(search, vectors);
        return native.searchEvidence(search, snapshot);
      }),
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
    vectors: (space, segments) => storedRows(snapshot, spaces.name(space) ?? space, segments),
    item: (id) => parsed<Item>(crossing(() => snapshot.item(id))),
    segmentsOf: (item) => {
      const found = crossing(() => snapshot.segmentsOfItem(item));
      return found ? { first: found[0], count: found[1] } : undefined;
    },
    counts,
    blocks: () => crossing(() => snapshot.blocks()),
    close,
    [Symbol.dispose]: close,
  };
}

type HitBuffers = [segments: Uint32Array, scores: Float32Array, facts: Uint32Array];
const FACTS = 3;

/** Arrays in one buffer for the native side to fill, as large as the answer can be. */
function hitBuffers(k: number, segments: number): HitBuffers {
  if (!Number.isSafeInteger(k) || k < 0) throw new FarthingError('internal', `${k} is not a number of hits.`);
  const hitsMax = Math.min(k, segments);
  const buffer = new ArrayBuffer(4 * (2 * hitsMax + FACTS));
  return [
    new Uint32Array(buffer, 0, hitsMax),
    new Float32Array(buffer, 4 * hitsMax, hitsMax),
    new Uint32Array(buffer, 8 * hitsMax, FACTS),
  ];
}

function rankedList([segments, scores, facts]: HitBuffers, hits: number): RankedList {
  const [exact = 0, scanned = 0, method = 0] = facts;
  return {
    segments: segments.subarray(0, hits),
    scores: scores.subarray(0, hits),
    exact: exact === 1,
    method: SCAN_METHODS[method] ?? 'proved',
    scanned,
  };
}

const SEARCH_FACTS = 8;
const LIST_FACTS = 5;

export function searched({ json, corrected, relaxed, facts }: SearchedHits): Searched {
  const lists: SearchedList[] = [];
  for (let at = SEARCH_FACTS; at < facts.length; at += LIST_FACTS)
    lists.push({
      scanned: facts[at]!,
      rescored: facts[at + 1]!,
      exact: facts[at + 2] === 1,
      method: SCAN_METHODS[facts[at + 3]!] ?? 'proved',
      ...(facts[at + 2] !== 1 && { recall: facts[at + 4]! }),
    });
  return {
    hits: new JsonArray(json, facts[0]!),
    found: facts[1]!,
    segments: facts[2]!,
    confidence: facts[3]!,
    scanMs: facts[4]!,
    fuseMs: facts[5]!,
    filteredOut: facts[6] === 1,
    truncated: facts[7] === 1,
    lists,
    ...(typeof corrected === 'string' && { corrected }),
    ...(relaxed.length > 0 && { relaxed }),
  };
}

function nativeQuery(query: ListQuery, spaces: OpenSpaces): NativeQuery {
  if ('vector' in query)
    return native.NativeQuery.vector(spaces.name(query.space) ?? query.space, query.vector);
  if ('words' in query) return native.NativeQuery.words(query.words, query.language);
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
  return rankedList(buffers, hits);
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

async function grepOnThread(
  snapshot: NativeSnapshot,
  { pattern, ignoreCase, linesMax, context = 0, after, filter }: GrepInput,
  expiresAt: string | null,
  signal: AbortSignal,
): Promise<Grepped> {
  const {
    json,
    count,
    next = null,
  } = await stoppable(signal, (stop) =>
    native.grepOffThread(snapshot, pattern, ignoreCase, linesMax, context, after, filter, expiresAt, stop),
  );
  return { lines: new JsonArray(json, count), next };
}

async function storedRows(snapshot: NativeSnapshot, space: string, segments: Uint32Array) {
  const { bytes, present } = await awaitCrossing(() => native.storedRows(snapshot, space, [...segments]));
  const rows = present.filter((isThere) => isThere).length;
  const rowBytes = rows === 0 ? 0 : bytes.byteLength / rows;
  let before = 0;
  return present.map((isThere) => {
    if (!isThere) return undefined;
    before += 1;
    return bytes.subarray((before - 1) * rowBytes, before * rowBytes);
  });
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
