import type { Family } from '../domain/family.ts';

/** One ranked list of a search: best first. */
export interface ScoredList {
  readonly family: Family;
  /** Lists about the same kind of Segment are summed; the kinds are then set beside each other by confidence. */
  readonly kind: 'passages' | 'pictures';
  /** Near-identical pictures: a match outranks every likeness, and no match says nothing. */
  readonly nearIdentical?: boolean;
  readonly weight: number;
  readonly segments: Uint32Array;
  readonly scores: Float32Array;
  /** Calibrated probability that a hit with this score is relevant. */
  readonly confidence: (score: number) => number;
}

/** A page, shot or section, with what the lists say about it. */
export interface FusedPlace {
  readonly segment: number;
  readonly family: Family;
  readonly score: number;
  readonly confidence: number;
  /** Segments of the place that any list holds. */
  readonly segments: number;
}

/** Share of the scale that likeness can reach where near-identical pictures are looked for. */
const LIKENESS_SHARE = 0.9;
/** Share by which likeness orders near-identical pictures among themselves. */
const LIKENESS_TIEBREAK = 0.01;

type Kind = ScoredList['kind'];

/** What the lists of one kind say about a place. */
interface Side {
  likeness: number;
  identity: number;
  confidence: number;
  best: number;
  segment: number;
  family: Family;
}

interface Candidate {
  readonly members: Set<number>;
  first: number;
  /** A page may be found by its text and by its look: the better of both counts, never their sum. */
  readonly sides: Partial<Record<Kind, Side>>;
}

/**
 * Fuses lists into at most `k` places, best first; equal scores: earlier ingested first.
 *
 * Within a kind: the sum of the lists' scores, each scaled to 0..1 over its own top `depth` places, times the lists'
 * weights (for SciFact the best of the methods that were compared; see ARCHITECTURE.md). Across kinds: times the
 * confidence of the kind's best place, so that the best picture of a poor lot does not outrank a good passage.
 */
export function fuse(
  lists: readonly ScoredList[],
  placeOf: (segment: number) => number,
  { k, depth }: { readonly k: number; readonly depth: number },
): FusedPlace[] {
  const candidates = new Map<number, Candidate>();
  for (const list of lists) addList(candidates, list, placeOf, depth, weightOf(lists, list.kind));
  const topConfidence = { passages: 0, pictures: 0 };
  for (const { sides } of candidates.values()) {
    for (const kind of KINDS)
      topConfidence[kind] = Math.max(topConfidence[kind], sides[kind]?.confidence ?? 0);
  }
  const identical = lists.some((list) => list.nearIdentical);
  const fused = [...candidates.values()].map((candidate) => {
    const scored = KINDS.flatMap((kind) => {
      const side = candidate.sides[kind];
      if (!side) return [];
      const likeness = kind === 'pictures' && identical ? pictureScore(side) : side.likeness;
      return [{ side, score: topConfidence[kind] * likeness }];
    });
    return { candidate, ...scored.reduce((best, other) => (other.score > best.score ? other : best)) };
  });
  fused.sort((a, b) => b.score - a.score || a.candidate.first - b.candidate.first);
  return fused.slice(0, k).map(({ candidate, side, score }) => ({
    segment: side.segment,
    family: side.family,
    score,
    confidence: side.confidence,
    segments: candidate.members.size,
  }));
}

const KINDS: readonly Kind[] = ['passages', 'pictures'];

/** Distinct places at the head of a list: how deep it really reaches. */
export function countPlaces(segments: Uint32Array, placeOf: (segment: number) => number): number {
  const places = new Set<number>();
  for (const segment of segments) places.add(placeOf(segment));
  return places.size;
}

function weightOf(lists: readonly ScoredList[], kind: ScoredList['kind']): number {
  let sum = 0;
  for (const list of lists) if (list.kind === kind && !list.nearIdentical) sum += list.weight;
  return sum;
}

function addList(
  candidates: Map<number, Candidate>,
  list: ScoredList,
  placeOf: (segment: number) => number,
  depth: number,
  weightOfKind: number,
): void {
  const heads = foldToPlaces(list, placeOf, depth);
  if (heads.length === 0) return;
  const top = heads[0]!.score;
  const spread = top - heads.at(-1)!.score;
  for (const { place, segment, score, members } of heads) {
    const scaled = list.nearIdentical ? score : spread > 0 ? (score - top + spread) / spread : 1;
    const share = list.nearIdentical ? 1 : weightOfKind > 0 ? list.weight / weightOfKind : 0;
    const candidate = candidates.get(place) ?? { members: new Set(), first: segment, sides: {} };
    candidates.set(place, candidate);
    const side = candidate.sides[list.kind] ?? newSide(segment, list.family);
    candidate.sides[list.kind] = side;
    if (list.nearIdentical) side.identity = scaled;
    else side.likeness += share * scaled;
    // The same picture says more than any likeness.
    if (list.nearIdentical || share * scaled > side.best) {
      side.best = list.nearIdentical ? Number.POSITIVE_INFINITY : share * scaled;
      side.segment = segment;
      side.family = list.family;
    }
    side.confidence = Math.max(side.confidence, list.confidence(score));
    for (const member of members) {
      candidate.members.add(member);
      candidate.first = Math.min(candidate.first, member);
    }
  }
}

function newSide(segment: number, family: Family): Side {
  return { likeness: 0, identity: 0, confidence: 0, best: -1, segment, family };
}

function pictureScore({ likeness, identity }: Side): number {
  if (identity === 0) return LIKENESS_SHARE * likeness;
  const rest = 1 - LIKENESS_SHARE - LIKENESS_TIEBREAK;
  return LIKENESS_SHARE + rest * identity + LIKENESS_TIEBREAK * likeness;
}

interface Head {
  readonly place: number;
  readonly segment: number;
  readonly score: number;
  readonly members: number[];
}

/** The first `depth` places of a list, each with its best Segment. */
function foldToPlaces(
  { segments, scores }: ScoredList,
  placeOf: (segment: number) => number,
  depth: number,
): Head[] {
  const heads = new Map<number, Head>();
  for (const [index, segment] of segments.entries()) {
    const place = placeOf(segment);
    const head = heads.get(place);
    if (head) head.members.push(segment);
    else if (heads.size < depth)
      heads.set(place, { place, segment, score: scores[index]!, members: [segment] });
  }
  return [...heads.values()];
}
