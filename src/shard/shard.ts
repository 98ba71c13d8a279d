import { FarthingError } from '../domain/error.ts';
import type { Item } from '../domain/item.ts';
import type { SegmentRecord } from '../domain/segment.ts';
import { fromNative, native } from '../native/index.ts';

export type NativeShard = InstanceType<typeof native.NativeShard>;
type NativeSnapshot = InstanceType<typeof native.NativeSnapshot>;

/** A vector space: all its vectors were made by one model. */
export interface SpaceSpec {
  readonly name: string;
  readonly dimensions: number;
  /** SHA-256 of the model's file, hexadecimal: vectors of another model are refused. */
  readonly modelSha256: string;
}

export interface SegmentInput {
  /** Stored as it is, given back by `records()`. */
  readonly record: SegmentRecord;
  /** Text that is found by its words. */
  readonly words?: string;
  /** Perceptual fingerprint of a picture, at most 64 bytes; with `digest`. */
  readonly fingerprint?: Uint8Array;
  /** SHA-256 of the picture's file. */
  readonly digest?: Uint8Array;
  /** One row for each space by its name: unit length, finite. */
  readonly vectors: Readonly<Record<string, Float32Array>>;
}

/** Best first; equal scores in order of insertion. */
export interface RankedList {
  readonly segments: Uint32Array;
  readonly scores: Float32Array;
  /** True when these are proved to be the best of all rows. */
  readonly exact: boolean;
  /** Rows, or postings, that were looked at; and rows whose exact score was computed. */
  readonly scanned: number;
  readonly rescored: number;
  /** The highest score that a query by words could have in this index; 0 for lists whose scores have a scale of their own. */
  readonly ceiling: number;
}

/** Searchable Items, their Segments, and the bytes of their files. */
export interface ShardCounts {
  readonly items: number;
  readonly segments: number;
  readonly bytes: number;
}

/** One read transaction: sees whole Items only, never changes, never waits for a writer. Short-lived; always to be closed. */
export interface Snapshot {
  /** The exact best k of a space. @throws shard_corrupt, shard_model_mismatch */
  searchVector(space: string, query: Float32Array, k: number): RankedList;
  /** BM25. @throws shard_corrupt */
  searchWords(query: string, k: number): RankedList;
  /** Score 1: the same file; below 1: a near copy. Others are not returned. @throws shard_corrupt */
  searchPicture(fingerprint: Uint8Array, digest: Uint8Array, k: number): RankedList;
  records(segments: Uint32Array): (SegmentRecord | undefined)[];
  /** For each Segment the first one in the same place of the same Item: equal for one place, different for two. 4294967295 for one that is not there. */
  places(segments: Uint32Array): Uint32Array;
  item(id: string): Item | undefined;
  counts(): ShardCounts;
  close(): void;
  [Symbol.dispose](): void;
}

/** An open index. Every write is durable when its promise resolves. */
export interface Shard {
  snapshot(): Snapshot;
  /**
   * Puts an Item with all its Segments, visible together, in the place of what the Item was before.
   * @throws storage_full, tenant_full, overloaded, shard_model_mismatch
   */
  append(item: Item, segments: readonly SegmentInput[]): Promise<void>;
  /** Puts an Item's record alone. */
  putItem(item: Item): Promise<void>;
  /** Removes an Item from every family at once; false when there is none. */
  removeItem(id: string): Promise<boolean>;
  item(id: string): Item | undefined;
  /** The first Item, pending or searchable, whose file has this SHA-256. */
  itemByDigest(sha256Hex: string): Item | undefined;
  /** In order of insertion, at most 10,000 at a time. */
  items(options: { after?: string; limit: number }): Item[];
  /** Writes the index, as one moment has it and without its free pages, into an empty folder. Writers go on meanwhile. */
  copyTo(folder: string): Promise<void>;
}

/** Segments handed over before the event loop gets a turn: about a millisecond of copying. */
const SEGMENTS_PER_TURN = 512;

/** Runs something native; its errors become FarthingErrors. */
export function crossing<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw fromNative(error);
  }
}

/** As {@link crossing}, for a promise. */
export async function awaitCrossing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw fromNative(error);
  }
}

/** The index as the rest of the server sees it. */
export function shardOf(shard: NativeShard): Shard {
  return {
    snapshot: () => openSnapshot(shard),
    append: (item, segments) => append(shard, item, segments),
    putItem: async (item) => void (await awaitCrossing(() => shard.putItem(JSON.stringify(item)))),
    removeItem: (id) => awaitCrossing(() => shard.removeItem(id)),
    item: (id) => reading(shard, (snapshot) => parsed<Item>(snapshot.item(id))),
    itemByDigest: (sha256) => reading(shard, (snapshot) => parsed<Item>(snapshot.itemByDigest(sha256))),
    items: ({ after, limit }) =>
      reading(shard, (snapshot) => JSON.parse(snapshot.items(after, limit)) as Item[]),
    copyTo: (folder) => awaitCrossing(() => native.copyShard(shard, folder)),
  };
}

async function append(shard: NativeShard, item: Item, segments: readonly SegmentInput[]): Promise<void> {
  const batch = crossing(() => shard.batch());
  for (const [index, segment] of segments.entries()) {
    crossing(() => addTo(batch, segment));
    if (index % SEGMENTS_PER_TURN === SEGMENTS_PER_TURN - 1) await new Promise(setImmediate);
  }
  await awaitCrossing(() => shard.append(JSON.stringify(item), batch));
}

function addTo(batch: InstanceType<typeof native.SegmentBatch>, segment: SegmentInput): void {
  const { record, words, fingerprint, digest, vectors } = segment;
  const spaces = Object.keys(vectors);
  batch.add(
    JSON.stringify(record),
    record.place,
    words,
    fingerprint,
    digest,
    spaces,
    spaces.map((space) => vectors[space] ?? new Float32Array()),
  );
}

function openSnapshot(shard: NativeShard): Snapshot {
  const snapshot = crossing(() => shard.snapshot());
  const close = (): void => snapshot.close();
  return {
    searchVector: (space, query, k) => {
      return ranked(snapshot, k, (...out) => snapshot.searchVector(space, query, ...out));
    },
    searchWords: (query, k) => ranked(snapshot, k, (...out) => snapshot.searchWords(query, ...out)),
    searchPicture: (fingerprint, digest, k) => {
      return ranked(snapshot, k, (...out) => snapshot.searchPicture(fingerprint, digest, ...out));
    },
    records: (segments) => {
      const records = crossing(() => JSON.parse(snapshot.records(segments)) as (SegmentRecord | null)[]);
      return records.map((record) => record ?? undefined);
    },
    places: (segments) => {
      const places = new Uint32Array(segments.length);
      crossing(() => snapshot.places(segments, places));
      return places;
    },
    item: (id) => crossing(() => parsed<Item>(snapshot.item(id))),
    counts: () => countsOf(snapshot),
    close,
    [Symbol.dispose]: close,
  };
}

type Out = [segments: Uint32Array, scores: Float32Array, facts: Uint32Array];

/** Gives the native side arrays to fill, no larger than the answer can be. */
function ranked(snapshot: NativeSnapshot, k: number, search: (...out: Out) => number): RankedList {
  if (!Number.isSafeInteger(k) || k < 0) throw new FarthingError('internal', `${k} is no number of hits.`);
  const hitsMax = Math.min(k, countsOf(snapshot).segments);
  const segments = new Uint32Array(hitsMax);
  const scores = new Float32Array(hitsMax);
  const facts = new Uint32Array(4);
  const hits = crossing(() => search(segments, scores, facts));
  const [exact = 0, scanned = 0, rescored = 0] = facts;
  return {
    segments: segments.subarray(0, hits),
    scores: scores.subarray(0, hits),
    exact: exact === 1,
    scanned,
    rescored,
    ceiling: new Float32Array(facts.buffer)[3] ?? 0,
  };
}

function countsOf(snapshot: NativeSnapshot): ShardCounts {
  const [items = 0, segments = 0, bytes = 0] = crossing(() => snapshot.counts());
  return { items, segments, bytes };
}

function reading<T>(shard: NativeShard, read: (snapshot: NativeSnapshot) => T): T {
  return crossing(() => {
    const snapshot = shard.snapshot();
    try {
      return read(snapshot);
    } finally {
      snapshot.close();
    }
  });
}

function parsed<T>(json: string | null): T | undefined {
  return json === null ? undefined : (JSON.parse(json) as T);
}
