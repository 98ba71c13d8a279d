import type { Family, ListName, SegmentKind } from '../domain/family.ts';
import type { RankedList, Rating } from '../shard/snapshot.ts';
import type { ServedList } from './lists.ts';

/** A ranked list with what its query finds in any Segment. */
export interface EvidenceList {
  readonly list: ServedList;
  readonly ranking: RankedList;
  /** Rates Segments, ascending. Absent for lists whose Segments say all: near-identical pictures. */
  readonly rate?: (segments: Uint32Array) => Rating;
  /** The query is reliably in a language that the list's model does not know. */
  readonly foreign: boolean;
}

/** What one list says of a place: its score for the best of the place's Segments. */
export interface ListEvidence {
  readonly score: number;
  /** Of words: share of the query's information in that Segment. */
  readonly held: number;
  readonly segment: number;
  /** In the list, from 1; absent where the place was found by another list alone. */
  readonly rank?: number;
}

/** Evidence of a list that holds for all places: what its scores can be compared with. */
export interface Scale {
  readonly name: ListName;
  readonly family: Family;
  readonly kind: SegmentKind;
  readonly nearIdentical: boolean;
  readonly foreign: boolean;
  readonly information: number;
  readonly sample: Rating['sample'];
}

/** A page, shot or section that a list found, with what every list of the kind says of it. */
export interface Candidate {
  readonly place: number;
  /** The earliest of its Segments, and how many of them are in any list. */
  readonly first: number;
  readonly segments: number;
  readonly evidence: ReadonlyMap<ListName, ListEvidence>;
}

export interface Evidence {
  readonly scales: readonly Scale[];
  readonly candidates: readonly Candidate[];
}

const NO_SAMPLE = { count: 0, mean: 0, deviation: 0 };

/**
 * What the lists say of the first `depth` places of each. A place that one list found is rated by all lists of its kind: what is
 * said of it does not depend on how deep another list was read.
 */
export function evidenceOf(lists: readonly EvidenceList[], depth: number): Evidence {
  const heads = lists.map(({ ranking }) => headsOf(ranking.places, depth));
  const places = placesOf(lists, heads);
  const scales = lists.map((list, at) => {
    const { traits, name } = list.list;
    const { family, kind, nearIdentical = false } = traits;
    const rated = list.rate ? rate(list, lists, heads, places) : undefined;
    if (!rated) take(list, heads[at]!, places);
    const { information = 0, sample = NO_SAMPLE } = rated ?? {};
    return { name, family, kind, nearIdentical, foreign: list.foreign, information, sample };
  });
  countSegments(lists, places);
  return { scales, candidates: [...places.values()] };
}

interface Place {
  readonly place: number;
  first: number;
  segments: number;
  readonly evidence: Map<ListName, ListEvidence>;
}

function placesOf(
  lists: readonly EvidenceList[],
  heads: readonly ReadonlyMap<number, number>[],
): Map<number, Place> {
  const places = new Map<number, Place>();
  for (const [at, { ranking }] of lists.entries())
    for (const [place, head] of heads[at]!)
      if (!places.has(place))
        places.set(place, { place, first: ranking.segments[head]!, segments: 0, evidence: new Map() });
  return places;
}

/** Rates the heads of all lists of the list's kind; the best Segment of each place counts. */
function rate(
  list: EvidenceList,
  lists: readonly EvidenceList[],
  heads: readonly ReadonlyMap<number, number>[],
  places: ReadonlyMap<number, Place>,
): Rating {
  const { name, traits } = list.list;
  const placeOf = new Map<number, number>();
  for (const [at, other] of lists.entries())
    if (other.list.traits.kind === traits.kind)
      for (const [place, head] of heads[at]!) placeOf.set(other.ranking.segments[head]!, place);
  const segments = Uint32Array.from(placeOf.keys()).sort();
  const rating = list.rate!(segments);
  for (const [at, segment] of segments.entries()) {
    const score = rating.scores[at]!;
    const { evidence } = places.get(placeOf.get(segment)!)!;
    const before = evidence.get(name);
    if (Number.isNaN(score) || (before && before.score >= score)) continue;
    evidence.set(name, { score, held: rating.held[at]!, segment });
  }
  let rank = 0;
  for (const place of heads[lists.indexOf(list)]!.keys()) {
    rank += 1;
    const { evidence } = places.get(place)!;
    const said = evidence.get(name);
    if (said) evidence.set(name, { ...said, rank });
  }
  return rating;
}

/** Takes a list as it is. */
function take(
  { list, ranking }: EvidenceList,
  heads: ReadonlyMap<number, number>,
  places: ReadonlyMap<number, Place>,
): void {
  let rank = 0;
  for (const [place, head] of heads) {
    rank += 1;
    const [score, segment] = [ranking.scores[head]!, ranking.segments[head]!];
    places.get(place)!.evidence.set(list.name, { score, held: 0, segment, rank });
  }
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

function countSegments(lists: readonly EvidenceList[], places: ReadonlyMap<number, Place>): void {
  const counted = new Set<number>();
  for (const { ranking } of lists)
    for (const [at, segment] of ranking.segments.entries()) {
      const place = places.get(ranking.places[at]!);
      if (!place || counted.has(segment)) continue;
      counted.add(segment);
      place.segments += 1;
      if (segment < place.first) place.first = segment;
    }
}
