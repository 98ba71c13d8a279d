import type { Family } from './family.ts';
import type { LikePlace } from './labels/like.ts';

export const K_MIN = 1;
export const K_MAX = 1000;
export const K_DEFAULT = 30;
/**
 * Confidence below which a hit is not worth a person's or a model's attention: console, CLI and MCP leave such hits out. Of the right hits
 * among the first ten, 1 to 2 % were below on five of six collections, 8 % on the smallest (52 queries).
 */
export const CONFIDENCE_FLOOR = 0.02;
/**
 * Likeness from which a picture is shown for another, however sure it is that they are not the same. Of the 210 pairs of 21 photographs one is
 * above it, the two cats (.67); the next has .43.
 */
export const LIKENESS_FLOOR = 0.5;

/** Whether a picture looks like the query picture. */
export const looksAlike = ({ likeness = 0 }: { readonly likeness?: number | undefined }): boolean =>
  likeness >= LIKENESS_FLOOR;

/** Whether a hit is worth attention: as an answer, or as a picture like the query picture. */
export function isWorthShowing(hit: {
  readonly confidence: number;
  readonly likeness?: number | undefined;
}): boolean {
  return hit.confidence >= CONFIDENCE_FLOOR || looksAlike(hit);
}

/** Hits below this share of the best one's confidence are not `likely`. */
export const LIKELY_SHARE = 0.2;
/** Hits that are shown where none is likely. */
export const NEAREST_SHOWN = 3;

interface Rated {
  readonly likely?: boolean | undefined;
}

/** `likely` of a hit of several answers. @param best the best hit's confidence */
export function isLikely(
  hit: { readonly confidence: number; readonly likeness?: number | undefined },
  { answered, best }: { readonly answered: boolean; readonly best: number },
): boolean {
  return (answered && hit.confidence >= LIKELY_SHARE * best) || looksAlike(hit);
}

/** The hits that are shown at once: the likely ones, or where none is the nearest three. A server from before says it of none: all. */
export function shownFirst<H extends Rated>(hits: readonly H[]): readonly H[] {
  const likely = hits.filter((hit) => hit.likely !== false);
  return likely.length > 0 ? likely : hits.slice(0, NEAREST_SHOWN);
}

/** The confidence to ask for, so that what is worth showing is in the answer. */
export const floorOf = (isByLikeness: boolean): number => (isByLikeness ? 0 : CONFIDENCE_FLOOR);
/** Characters. */
export const QUERY_LENGTH_MAX = 8192;
/** Questions of one search. */
export const QUERIES_MAX = 16;
/** Passages on each side of a hit's own. */
export const PASSAGES_MAX = 10;
/** Characters of the texts of an answer, in UTF-16 code units. */
export const CHARS_MIN = 200;
export const CHARS_MAX = 200_000;
/** Characters of a pattern; lines of an answer. */
export const PATTERN_LENGTH_MAX = 1000;
export const LINES_DEFAULT = 100;
export const LINES_MAX = 1000;
/** Lines that are shown before and behind each. */
export const CONTEXT_MAX = 10;
/** Each may be named more than once. */
export const FAMILIES_ASKED_MAX = 16;

/** A search after validation and defaults. At least one of `query` and `image` is present, or `like`. */
export interface SearchInput {
  readonly query?: string;
  /** The picture's file as sent (JPEG, PNG, …): untrusted bytes, to be decoded in a child process only. */
  readonly image?: Uint8Array;
  /** Absent: all that apply to the query. */
  readonly families?: readonly Family[];
  readonly k: number;
  /** The answer explains itself. */
  readonly explain?: boolean;
  /** Every list must be proved, even where the index has a quicker way. */
  readonly exact?: boolean;
  /** Restricts the Items that may be found, parsed by `readFilter`. Absent: all. */
  readonly filter?: string;
  /** The order of the hits, parsed by `readOrder`. Absent: the likelier first. */
  readonly order?: string;
  /** What hits are to be like, instead of `query` and `image`. */
  readonly like?: LikePlace;
  /** Hits show their text, with so many passages on each side. */
  readonly passages?: number;
  /** Characters of all these texts together. */
  readonly max_chars?: number;
  /** Less likely hits are left out, 0..1; absent: none are. */
  readonly min_confidence?: number;
}

/** A search for lines, after validation and defaults. */
export interface GrepInput {
  /** A regular expression; its syntax is not checked yet. */
  readonly pattern: string;
  readonly ignoreCase: boolean;
  readonly linesMax: number;
  /** Lines of the passage that are shown before and behind each; absent: none. */
  readonly context?: number;
  /** The `next` of the answer before. */
  readonly after?: string;
  /** As of a search. */
  readonly filter?: string;
}

/** Why an answer says that it has none: an empty index, a filter that leaves nothing, no hit at all, or none that is likely to answer. */
export const UNANSWERED_REASONS = [
  'nothing_searchable',
  'nothing_in_filter',
  'nothing_found',
  'unlikely',
] as const;
export type UnansweredReason = (typeof UNANSWERED_REASONS)[number];

/** Whether an answer has a hit that is likely to answer, and if not, why. */
export interface Verdict {
  readonly answered: boolean;
  readonly reason?: UnansweredReason;
}

/** Ways to make a list. `proved`: every row that could belong to it was scored; `bits`: a statistical bound skipped rows; `graph`: rows were found along a graph. */
export const SCAN_METHODS = ['proved', 'bits', 'graph'] as const;
export type ScanMethod = (typeof SCAN_METHODS)[number];
