import type { Family, ListName, SegmentKind } from './family.ts';
import type { ShownSegment } from './file/segment.ts';
import type { Item } from './item.ts';

export const K_MIN = 1;
export const K_MAX = 1000;
export const K_DEFAULT = 30;
/**
 * Confidence below which a hit is not worth a person's or a model's attention: console, CLI and MCP leave such hits out. Of the right hits
 * among the first ten, 1 to 2 % were below on five of six collections, 8 % on the smallest (52 queries).
 */
export const CONFIDENCE_FLOOR = 0.02;
/** Characters. */
export const QUERY_LENGTH_MAX = 8192;
/** Each may be named more than once. */
export const FAMILIES_ASKED_MAX = 16;

/** A search after validation and defaults. At least one of `query` and `image` is present. */
export interface SearchInput {
  readonly query?: string;
  /** The picture's file as sent (JPEG, PNG, …): bytes from a stranger, to be decoded in a child process only. */
  readonly image?: Uint8Array;
  /** Absent: all that apply to the query. */
  readonly families?: readonly Family[];
  readonly k: number;
  /** The answer explains itself. */
  readonly explain?: boolean;
  /** Every list must be proved, even where the index has a quicker way. */
  readonly exact?: boolean;
  /** Less likely hits are left out, 0..1; absent: none are. */
  readonly min_confidence?: number;
}

/** Why an answer says that it has none: an empty index, no hit at all, or none that is likely to answer. */
export const UNANSWERED_REASONS = ['nothing_searchable', 'nothing_found', 'unlikely'] as const;
export type UnansweredReason = (typeof UNANSWERED_REASONS)[number];

/** Whether an answer has a hit that is likely to answer, and if not, why. */
export interface Verdict {
  readonly answered: boolean;
  readonly reason?: UnansweredReason;
}

/** Ways to make a list. `proved`: every row that could belong to it was scored; `bits`: a statistical bound skipped rows; `graph`: found along a graph. */
export const SCAN_METHODS = ['proved', 'bits', 'graph'] as const;
export type ScanMethod = (typeof SCAN_METHODS)[number];

/** How sure the lists of a family are in one answer. */
export interface Bound {
  /** True: proved to be the best of all rows. */
  readonly exact: boolean;
  /** If not proved: the mean share of the true best k that this way of searching must reach, for every k up to 1000. */
  readonly recall?: number;
}

/** Recall that unproved lists must reach; measured by `make bench-index` and, in a running server, by probes. */
export const RECALL_HELD = 0.999;

/** A hit: what its Segment shows, and how it was ranked. `text_source` is given for every passage. */
export interface Hit extends Omit<ShownSegment, 'place'> {
  readonly item: Item;
  /** Probability that this hit answers, 0..1. It never rises down the list. */
  readonly confidence: number;
  /** The family that contributed most to `score`. */
  readonly family: Family;
  /** Log-odds of `confidence`, unrounded: orders the hits. */
  readonly score: number;
  /** Number of Segments of the same page, shot or section that were folded into this hit, itself included. */
  readonly segments: number;
  /** Present when the search asked for an explanation. */
  readonly explanation?: HitExplanation;
}

/** How a hit was scored: `base` + the sum of `part` over the lists of its `kind`. */
export interface HitExplanation {
  readonly lists: readonly {
    readonly list: ListName;
    /** Kind of Segment that the list ranks; a page may be found by several, and the likelier kind counts. */
    readonly kind: SegmentKind;
    readonly family: Family;
    /** Rank in the list, from 1; absent where another list found the hit. */
    readonly rank?: number;
    /** As the list scores: cosine, BM25, or closeness of fingerprints. */
    readonly raw_score: number;
    /** What it adds to the score, in log-odds; 0 for lists of the other kind. */
    readonly part: number;
  }[];
  readonly kind: SegmentKind;
  /** What holds for all hits of the kind: the query, the first hit's evidence, the size of the index. */
  readonly base: number;
}

/** How an answer was made. */
export interface SearchExplanation {
  readonly lists: readonly ListScan[];
  /** Segments of the index. */
  readonly segments: number;
  /** Places of each list that were considered. */
  readonly depth: number;
  /** Encoder tasks that made the query's vectors; other requests may have shared them. */
  readonly tasks: readonly {
    readonly kind: string;
    readonly batch: number;
    readonly waited_ms: number;
    readonly ran_ms: number;
  }[];
}

/** The scan of one list. */
export interface ListScan {
  readonly list: ListName;
  /** Rows or postings that were scanned, and rows whose exact score was computed. */
  readonly scanned: number;
  readonly rescored: number;
  /** True when the list is proved to be the best of all rows. */
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

export interface SearchResult extends Verdict {
  readonly hits: readonly Hit[];
  readonly latency_ms: number;
  readonly timing: Timing;
  /** True when every fused list is proved to be the exact top of its family. */
  readonly exact: boolean;
  /** The same for each searched family. */
  readonly bounds: Readonly<Partial<Record<Family, Bound>>>;
  /** False when nothing was searchable: such a search is not charged. */
  readonly searchable: boolean;
  readonly explanation?: SearchExplanation;
}
