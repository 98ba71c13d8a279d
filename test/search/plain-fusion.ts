import type { Family } from '../../src/domain/family.ts';
import type { FusedPlace, ScoredList } from '../../src/search/fuse.ts';

/** The formula of `src/search/fuse.ts`, written plainly for comparison. */
const LIKENESS_SHARE = 0.9;
const LIKENESS_TIEBREAK = 0.01;

interface Candidate {
  readonly kind: ScoredList['kind'];
  readonly members: Set<number>;
  first: number;
  likeness: number;
  identity?: number;
  confidence: number;
  best: number;
  segment: number;
  family: Family;
}

export function fusePlainly(
  lists: readonly ScoredList[],
  placeOf: (segment: number) => number,
  { k, depth }: { readonly k: number; readonly depth: number },
): FusedPlace[] {
  const candidates = new Map<number, Candidate>();
  for (const list of lists) addList(candidates, list, placeOf, depth, weightOf(lists, list.kind));
  const topConfidence: Partial<Record<Candidate['kind'], number>> = {};
  for (const { kind, confidence } of candidates.values())
    topConfidence[kind] = Math.max(topConfidence[kind] ?? 0, confidence);
  const identical = lists.some((list) => list.nearIdentical && list.segments.length > 0);
  const fused = [...candidates.values()].map((candidate) => ({
    candidate,
    score:
      topConfidence[candidate.kind]! *
      (candidate.kind === 'pictures' && identical ? pictureScore(candidate) : candidate.likeness),
  }));
  fused.sort((a, b) => b.score - a.score || a.candidate.first - b.candidate.first);
  return fused.slice(0, k).map(({ candidate: { segment, family, confidence, members }, score }) => ({
    segment,
    family,
    score,
    confidence,
    segments: members.size,
  }));
}

function weightOf(lists: readonly ScoredList[], kind: ScoredList['kind']): number {
  let sum = 0;
  for (const list of lists)
    if (list.kind === kind && !list.nearIdentical && list.segments.length > 0) sum += list.weight;
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
    const candidate = candidates.get(place) ?? newCandidate(list.kind, segment, list.family);
    candidates.set(place, candidate);
    if (list.nearIdentical) candidate.identity = scaled;
    else candidate.likeness += share * scaled;
    // An identical picture says more than any likeness.
    if (list.nearIdentical || share * scaled > candidate.best) {
      candidate.best = list.nearIdentical ? Number.POSITIVE_INFINITY : share * scaled;
      candidate.segment = segment;
      candidate.family = list.family;
    }
    candidate.confidence = Math.max(candidate.confidence, list.confidence(score));
    for (const member of members) {
      candidate.members.add(member);
      candidate.first = Math.min(candidate.first, member);
    }
  }
}

function newCandidate(kind: ScoredList['kind'], segment: number, family: Family): Candidate {
  return {
    kind,
    members: new Set(),
    first: segment,
    likeness: 0,
    confidence: 0,
    best: -1,
    segment,
    family,
  };
}

function pictureScore({ likeness, identity }: Candidate): number {
  if (identity === undefined) return LIKENESS_SHARE * likeness;
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
