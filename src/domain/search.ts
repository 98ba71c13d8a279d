import type { Family } from './family.ts';
import type { ListName } from './fusion.ts';
import type { Item } from './item.ts';
import type { Locator, TextSource } from './segment.ts';

export const K_MIN = 1;
export const K_MAX = 1000;
export const K_DEFAULT = 30;
/** Characters. */
export const QUERY_LENGTH_MAX = 8192;
/** Each may be named more than once. */
export const FAMILIES_ASKED_MAX = 16;

/** A search after validation and defaults. At least one of `query` and `image` is present. */
export interface SearchInput {
  readonly query?: string;
  /** The picture's file as sent (JPEG, PNG, …): bytes from a stranger, to be decoded in a child process only. */
  readonly image?: Uint8Array;
  /** Absent: all that apply to what is asked. */
  readonly families?: readonly Family[];
  readonly k: number;
  /** The answer says how it came about. */
  readonly explain?: boolean;
  /** Every list is to be proved, in indexes too where a quicker way would serve. */
  readonly exact?: boolean;
}

/**
 * Ways to make a list. `proved`: every row that could belong to the answer was scored; `bits`: rows were passed over by a
 * statistical bound; `graph`: found along a graph.
 */
export const SCAN_METHODS = ['proved', 'bits', 'graph'] as const;
export type ScanMethod = (typeof SCAN_METHODS)[number];

/** What holds for the lists of a family in one answer. */
export interface Bound {
  /** True: proved to be the best of all rows. */
  readonly exact: boolean;
  /** Otherwise the mean share of the true best k, for every k up to 1000, that this way of searching is held to. */
  readonly recall?: number;
}

/** What the ways that prove nothing are held to; measured by `make bench-index` and, in a running server, by probes. */
export const RECALL_HELD = 0.999;

export interface Hit {
  readonly item: Item;
  /** Calibrated probability of relevance, 0..1, comparable across families. */
  readonly confidence: number;
  /** The family that contributed most to `score`. */
  readonly family: Family;
  readonly locator: Locator;
  /** Fused score: higher is better. */
  readonly score: number;
  /** The part of a passage that holds most of the query's words; absent for pictures, as are the next three. */
  readonly snippet?: string;
  /** Where words of the query stand in the snippet, in UTF-16 units. */
  readonly highlights?: readonly (readonly [start: number, end: number])[];
  readonly text_source?: TextSource;
  readonly ocr_confidence?: number;
  /** How many Segments of the same page, shot or section were folded into this hit, itself included. */
  readonly segments: number;
  /** What each list said of it; when an explanation was asked for. */
  readonly explanation?: HitExplanation;
}

/** How a hit came to its score: `kind_confidence` × the sum of `scaled` × `share` over the lists of its `kind`. */
export interface HitExplanation {
  readonly lists: readonly {
    readonly list: ListName;
    /** What the list is about; a page may be found by both, and the better kind counts. */
    readonly kind: 'passages' | 'pictures';
    readonly family: Family;
    /** Place in the list, from 1. */
    readonly rank: number;
    /** As the list scores: cosine, BM25, or closeness of fingerprints. */
    readonly raw_score: number;
    /** The raw score between the list's last and first place, 0..1; of a near-identical picture at least .9. */
    readonly scaled: number;
    /** The list's share in its kind's score; less of it once a near-identical picture was found. */
    readonly share: number;
    /** Calibrated probability of relevance that this list gives. */
    readonly confidence: number;
  }[];
  readonly kind: 'passages' | 'pictures';
  /** Confidence of the kind's best hit, by which kinds are set beside each other. */
  readonly kind_confidence: number;
}

/** How an answer came about. */
export interface SearchExplanation {
  readonly lists: readonly ListScan[];
  /** Segments of the index. */
  readonly segments: number;
  /** Entries of each list that were scaled and summed. */
  readonly depth: number;
  /** Tasks of the encoders that made the query's vectors; other requests may have shared them. */
  readonly tasks: readonly {
    readonly kind: string;
    readonly batch: number;
    readonly waited_ms: number;
    readonly ran_ms: number;
  }[];
}

/** What the scan of one list looked at. */
export interface ListScan {
  readonly list: ListName;
  /** Rows, or postings, that were looked at; and rows whose exact score was computed. */
  readonly scanned: number;
  readonly rescored: number;
  /** Whether the list is proved to be the best of all rows. */
  readonly exact: boolean;
  readonly method: ScanMethod;
}

/** Milliseconds of each stage; a stage that did not run is absent. */
export interface Timing {
  verify_ms?: number;
  encode_ms?: number;
  scan_ms?: number;
  fuse_ms?: number;
  settle_ms?: number;
  total_ms?: number;
}

export interface SearchResult {
  readonly hits: readonly Hit[];
  readonly latency_ms: number;
  readonly timing: Timing;
  /** True when every list that was fused is proved to be the exact top of its family. */
  readonly exact: boolean;
  /** The same for each family that was searched. */
  readonly bounds: Readonly<Partial<Record<Family, Bound>>>;
  /** False when nothing was searchable: such a search costs nothing. */
  readonly searchable: boolean;
  readonly explanation?: SearchExplanation;
}
