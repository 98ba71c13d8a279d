import type { Family } from './family.ts';
import type { Item } from './item.ts';
import type { Locator, TextSource } from './segment.ts';

export const K_MIN = 1;
export const K_MAX = 1000;
export const K_DEFAULT = 30;

/** A search after validation and defaults. At least one of `query` and `image` is present. */
export interface SearchInput {
  readonly query?: string;
  /** The picture's file as sent (JPEG, PNG, …): bytes from a stranger, to be decoded in a child process only. */
  readonly image?: Uint8Array;
  /** Absent: all that apply to what is asked. */
  readonly families?: readonly Family[];
  readonly k: number;
}

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
  /** False when nothing was searchable: such a search costs nothing. */
  readonly searchable: boolean;
}
