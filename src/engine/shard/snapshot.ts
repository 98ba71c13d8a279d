import type { native } from '@farthing/native';
import type { Item } from '@farthing/protocol/schema/items';
import type { SegmentRecord } from '@farthing/protocol/schema/search';
import type { GrepInput, ScanMethod } from '@farthing/protocol/search';
import type { JsonArray } from '../json-array.ts';

/** Best first; equal scores in order of insertion. */
export interface RankedList {
  readonly segments: Uint32Array;
  readonly scores: Float32Array;
  /** True when the list is proved to be the best of all rows. */
  readonly exact: boolean;
  readonly method: ScanMethod;
  /** Rows or postings that were scanned. */
  readonly scanned: number;
}

/** Query of one ranked list. `language`: ISO 639-3 code of the query's language, where its detection is reliable. */
export type ListQuery =
  | { readonly space: string; readonly vector: Float32Array }
  | { readonly words: string; readonly language?: string }
  | { readonly fingerprint: Uint8Array; readonly digest: Uint8Array };

/** Hits of a proved list, and how many of them the quick way finds. */
export interface Probed {
  readonly expected: number;
  readonly found: number;
}

/** A list's depth, in distinct places, and whether it must be proved at any cost. */
export interface RankOptions {
  readonly depth: number;
  readonly exact?: boolean;
}

/** Searchable Items, their Segments, and the bytes of their files. */
export interface ShardCounts {
  readonly items: number;
  readonly segments: number;
  readonly bytes: number;
}

/** A search with its plan, and the input of lists without vectors. */
export type NativeSearch = InstanceType<typeof native.NativeSearch>;

/** A list of a search's plan that vectors answer. */
export interface ListSpace {
  /** Its number in the plan. */
  readonly list: number;
  readonly space: string;
}

/** The vector of a query for a list of the search's plan. */
export interface ListVector extends ListSpace {
  readonly vector: Float32Array;
}

/** A list of a search's plan as it was scanned. */
export interface SearchedList extends Pick<RankedList, 'scanned' | 'exact' | 'method'> {
  /** Rows whose exact score was computed. */
  readonly rescored: number;
  /** The mean share of the true best that is expected. Absent where they are proved. */
  readonly recall?: number;
}

/** The answer to a search. */
export interface Searched {
  readonly hits: JsonArray;
  /** Places that any list found. */
  readonly found: number;
  /** Segments of the index. */
  readonly segments: number;
  /** The filter leaves nothing to find. */
  readonly filteredOut: boolean;
  /** A text had no room. */
  readonly truncated: boolean;
  /** Confidence of the first hit; 0 without one. */
  readonly confidence: number;
  readonly scanMs: number;
  readonly fuseMs: number;
  /** In the order of the plan. */
  readonly lists: readonly SearchedList[];
  /** The words with slips corrected. Absent where there are none. */
  readonly corrected?: string;
  /** Quoted phrases that stand nowhere: their words were looked for. Absent where there are none. */
  readonly relaxed?: readonly string[];
}

/** Lines that match a pattern. */
export interface Grepped {
  readonly lines: JsonArray;
  /** Where there may be more. */
  readonly next: string | null;
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
   * The shortest of the best `depth`, 2 × `depth` … 16 × `depth` Segments with `depth` distinct places. A small index answers
   * at once. A large one answers from another thread; until then the snapshot may be closed, but not used.
   * @throws shard_corrupt, shard_model_mismatch; interrupted when `signal` aborts; overloaded
   */
  rank(query: ListQuery, options: RankOptions, signal: AbortSignal): RankedList | Promise<RankedList>;
  /**
   * Answers a search: all lists are ranked, rated and fused, and the hits written. On another thread, unless it is short and may hold up
   * the caller's; until then the snapshot may be closed, but not used.
   * @throws shard_corrupt, shard_model_mismatch; interrupted when `signal` aborts; overloaded
   */
  search(
    search: NativeSearch,
    vectors: readonly ListVector[],
    options: { readonly signal: AbortSignal; readonly mayBlock: boolean },
  ): Searched | Promise<Searched>;
  /**
   * The lines of texts that match a pattern, in order of insertion. Read on another thread, for two seconds at most; until then the
   * snapshot may be closed, but not used.
   * @throws field_invalid for a pattern that is none; shard_corrupt; interrupted when `signal` aborts; overloaded
   */
  grep(input: GrepInput, expiresAt: string | null, signal: AbortSignal): Promise<Grepped>;
  /** Each candidate's features by list, as JSON: `bench/calibration` fits the curves to it. @throws shard_corrupt */
  evidence(search: NativeSearch, vectors: readonly ListVector[]): string;
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
   * The displayed content of some Segments, in their order: Items, and Segments with snippets for the query's words. A Segment that
   * the snapshot lacks is left out. @throws shard_corrupt
   */
  hits(segments: Uint32Array, options?: HitsOptions): JsonArray;
  /** The stored records of some Segments. */
  records(segments: Uint32Array): (SegmentRecord | undefined)[];
  /**
   * The vectors of some Segments, ascending, in a space, as they are stored: little-endian f32. Read on another thread; until then the
   * snapshot may be closed, but not used. @throws shard_corrupt, shard_model_mismatch
   */
  vectors(space: string, segments: Uint32Array): Promise<(Buffer | undefined)[]>;
  item(id: string): Item | undefined;
  /** The first of an Item's Segments, and how many it has: they follow each other. */
  segmentsOf(item: string): { readonly first: number; readonly count: number } | undefined;
  counts(): ShardCounts;
  /** Number of rows of each block, of all families: shows the effect of merges. */
  blocks(): number[];
  close(): void;
  [Symbol.dispose](): void;
}
