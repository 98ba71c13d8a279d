import type { HitExplanation } from '../api/search.ts';
import { type Family, type ListName, SEGMENT_KINDS, type SegmentKind } from '../domain/family.ts';

/** One ranked list of a search: best first. */
export interface ScoredList {
  readonly name: ListName;
  readonly family: Family;
  /** Lists of one kind of Segment are summed; kinds are then compared by confidence. */
  readonly kind: SegmentKind;
  /** A match outranks every likeness, and no match says nothing. */
  readonly nearIdentical?: boolean;
  readonly weight: number;
  readonly segments: Uint32Array;
  readonly scores: Float32Array;
  /** For each Segment the first Segment of its place. */
  readonly places: Uint32Array;
  /** Calibrated probability that a hit with this score is relevant. */
  readonly confidence: (score: number) => number;
}

/** A page, shot or section, with its score from all lists. */
export interface FusedPlace {
  readonly segment: number;
  readonly family: Family;
  readonly score: number;
  readonly confidence: number;
  /** Number of Segments of the place in any list. */
  readonly segments: number;
  readonly explanation?: HitExplanation;
}

/** Share of the scale that likeness can reach once a near-identical Segment was found. */
const LIKENESS_SHARE = 0.9;
/** Share by which likeness orders near-identical Segments among themselves. */
const LIKENESS_TIEBREAK = 0.01;
/** Share above those, by which near-identical Segments are ordered first: how near they are. */
const IDENTITY_SHARE = 1 - LIKENESS_SHARE - LIKENESS_TIEBREAK;

/** A place as the lists of one kind score it. */
interface Side {
  likeness: number;
  /** Nearness to the query's picture, 0..1; absent where it is not near-identical. */
  identity?: number;
  confidence: number;
  best: number;
  segment: number;
  family: Family;
}

type Said = HitExplanation['lists'][number] & { readonly nearIdentical?: boolean };

interface Candidate {
  /** Number of Segments of the place in any list, and the earliest of them. */
  members: number;
  first: number;
  /** A page may be found by its text and by its look: the better kind counts, never the sum. */
  readonly sides: Partial<Record<SegmentKind, Side>>;
  /** Filled for explanations only; as the lists have it, before `weighed`. */
  readonly said: Said[];
}

/**
 * Fuses lists into at most `k` places, best first. Of equal scores the earlier ingested is first.
 *
 * Within a kind, a place's score is the weighted sum of the lists' scores, each scaled to 0..1 over the list's own top
 * `depth` places: of the methods that were compared, the best for SciFact (`bench/quality`). Across kinds, it is multiplied by
 * the confidence of the kind's best place, so that the best of poor pictures does not outrank a good passage.
 */
export function fuse(
  lists: readonly ScoredList[],
  { k, depth, explain = false }: { readonly k: number; readonly depth: number; readonly explain?: boolean },
): FusedPlace[] {
  const candidates = new Map<number, Candidate>();
  const counted = new Set<number>();
  for (const list of lists)
    addList(candidates, counted, list, { depth, explain }, weightOf(lists, list.kind));
  const topConfidence = topConfidences(candidates);
  const identical = new Set(
    lists.flatMap(({ kind, nearIdentical, segments }) => (nearIdentical && segments.length > 0 ? kind : [])),
  );
  const fused: { candidate: Candidate; kind: SegmentKind; score: number }[] = [];
  for (const candidate of candidates.values())
    fused.push({ candidate, ...betterSide(candidate, topConfidence, identical) });
  fused.sort((a, b) => b.score - a.score || a.candidate.first - b.candidate.first);
  return fused.slice(0, k).map(({ candidate: { sides, members, said }, kind, score }) => {
    const { segment, family, confidence } = sides[kind]!;
    const explanation = {
      lists: said.map((list) => weighed(list, sides[list.kind], identical)),
      kind,
      kind_confidence: topConfidence[kind],
    };
    return { segment, family, score, confidence, segments: members, ...(explain && { explanation }) };
  });
}

/** Confidence of the best place of each kind. */
function topConfidences(candidates: ReadonlyMap<number, Candidate>): Record<SegmentKind, number> {
  const top = Object.fromEntries(SEGMENT_KINDS.map((kind) => [kind, 0])) as Record<SegmentKind, number>;
  for (const { sides } of candidates.values())
    for (const kind of SEGMENT_KINDS) top[kind] = Math.max(top[kind], sides[kind]?.confidence ?? 0);
  return top;
}

function betterSide(
  { sides }: Candidate,
  topConfidence: Readonly<Record<SegmentKind, number>>,
  identical: ReadonlySet<SegmentKind>,
): { kind: SegmentKind; score: number } {
  let better: { kind: SegmentKind; score: number } | undefined;
  for (const kind of SEGMENT_KINDS) {
    const side = sides[kind];
    if (!side) continue;
    const likeness = identical.has(kind) ? scoreBesideIdentical(side) : side.likeness;
    const score = topConfidence[kind] * likeness;
    if (!better || score > better.score) better = { kind, score };
  }
  return better!;
}

/** Sum of the weights of the lists that found something. Empty lists have no share, or passages would count half beside pictures. */
function weightOf(lists: readonly ScoredList[], kind: SegmentKind): number {
  let sum = 0;
  for (const list of lists)
    if (list.kind === kind && !list.nearIdentical && list.segments.length > 0) sum += list.weight;
  return sum;
}

function addList(
  candidates: Map<number, Candidate>,
  counted: Set<number>,
  list: ScoredList,
  { depth, explain }: { readonly depth: number; readonly explain: boolean },
  weightOfKind: number,
): void {
  const { segments, scores, places } = list;
  const heads = headsOf(places, depth);
  if (heads.size === 0) return;
  const top = scores[0]!;
  const spread = top - scores[lastOf(heads)]!;
  const share = list.nearIdentical ? 1 : weightOfKind > 0 ? list.weight / weightOfKind : 0;
  let rank = 0;
  for (const [place, at] of heads) {
    const score = scores[at]!;
    const segment = segments[at]!;
    let candidate = candidates.get(place);
    if (!candidate) {
      candidate = { members: 0, first: segment, sides: {}, said: [] };
      candidates.set(place, candidate);
    }
    candidate.sides[list.kind] ??= newSide(segment, list.family);
    const side = candidate.sides[list.kind]!;
    const scaled = list.nearIdentical ? score : spread > 0 ? (score - top + spread) / spread : 1;
    if (list.nearIdentical) side.identity = scaled;
    else side.likeness += share * scaled;
    // An identical picture says more than any likeness.
    if (list.nearIdentical || share * scaled > side.best) {
      side.best = list.nearIdentical ? Number.POSITIVE_INFINITY : share * scaled;
      side.segment = segment;
      side.family = list.family;
    }
    const confidence = list.confidence(score);
    side.confidence = Math.max(side.confidence, confidence);
    rank += 1;
    if (explain) {
      const { name, kind, family, nearIdentical } = list;
      const said = { list: name, kind, family, rank, raw_score: score, scaled, share, confidence };
      candidate.said.push({ ...said, nearIdentical });
    }
  }
  countMembers(candidates, counted, segments, places, heads);
}

/** The first `depth` places of a list, each with the index of its best Segment. */
function headsOf(places: Uint32Array, depth: number): Map<number, number> {
  const heads = new Map<number, number>();
  for (let at = 0; at < places.length && heads.size < depth; at += 1) {
    const place = places[at]!;
    if (!heads.has(place)) heads.set(place, at);
  }
  return heads;
}

function lastOf(heads: ReadonlyMap<number, number>): number {
  let last = 0;
  for (const at of heads.values()) last = at;
  return last;
}

function countMembers(
  candidates: Map<number, Candidate>,
  counted: Set<number>,
  segments: Uint32Array,
  places: Uint32Array,
  heads: ReadonlyMap<number, number>,
): void {
  for (let at = 0; at < places.length; at += 1) {
    const place = places[at]!;
    if (!heads.has(place)) continue;
    const candidate = candidates.get(place)!;
    const segment = segments[at]!;
    if (segment < candidate.first) candidate.first = segment;
    const before = counted.size;
    if (counted.add(segment).size > before) candidate.members += 1;
  }
}

function newSide(segment: number, family: Family): Side {
  return { likeness: 0, confidence: 0, best: -1, segment, family };
}

/** The score of a place once a near-identical Segment of its kind was found anywhere. */
function scoreBesideIdentical({ likeness, identity }: Side): number {
  if (identity === undefined) return LIKENESS_SHARE * likeness;
  return LIKENESS_SHARE + IDENTITY_SHARE * identity + LIKENESS_TIEBREAK * likeness;
}

/** A list's part of the score: over a kind, the sum of `scaled` × `share` is the likeness that `betterSide` takes. */
function weighed(
  { nearIdentical, ...said }: Said,
  side: Side | undefined,
  identical: ReadonlySet<SegmentKind>,
): HitExplanation['lists'][number] {
  if (!identical.has(said.kind)) return said;
  if (nearIdentical) return { ...said, scaled: LIKENESS_SHARE + IDENTITY_SHARE * said.scaled };
  return {
    ...said,
    share: said.share * (side?.identity === undefined ? LIKENESS_SHARE : LIKENESS_TIEBREAK),
  };
}
