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
  /** Of words: that Segment is one of few with every word as it is written. */
  readonly written: boolean;
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
 * What the lists say of the first `depth` places of each, and of the few that have the words as they are written. A place that one
 * list found is rated by all lists of its kind: what is said of it does not depend on how deep another list was read.
 */
export function evidenceOf(lists: readonly EvidenceList[], depth: number): Evidence {
  const heads = lists.map(({ ranking }) => headsOf(ranking.places, depth));
  const places = placesOf(lists, heads);
  const asked = lists.map((list) => askedOf(list, lists, heads));
  const ratings = lists.map((list, at) => list.rate?.(segmentsOf(asked[at]!)));
  for (const [at, rating] of ratings.entries())
    for (const [segment, place] of rating?.written ?? [])
      if (!asked[at]!.has(segment)) addWritten(segment, place, lists[at]!, lists, asked, places);
  const scales = lists.map((list, at) => {
    const { traits, name } = list.list;
    const { family, kind, nearIdentical = false } = traits;
    const segments = segmentsOf(asked[at]!);
    const before = ratings[at];
    const rating = before && before.scores.length < segments.length ? list.rate?.(segments) : before;
    if (rating) apply(list, rating, segments, asked[at]!, heads[at]!, places);
    else take(list, heads[at]!, places);
    const { information = 0, sample = NO_SAMPLE } = rating ?? {};
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
      if (!places.has(place)) places.set(place, newPlace(place, ranking.segments[head]!));
  return places;
}

const newPlace = (place: number, first: number): Place => ({
  place,
  first,
  segments: 0,
  evidence: new Map(),
});

/** The heads of all lists of a list's kind, which it is to rate, each with its place. */
function askedOf(
  { list }: EvidenceList,
  lists: readonly EvidenceList[],
  heads: readonly ReadonlyMap<number, number>[],
): Map<number, number> {
  const placeOf = new Map<number, number>();
  for (const [at, other] of lists.entries())
    if (other.list.traits.kind === list.traits.kind)
      for (const [place, head] of heads[at]!) placeOf.set(other.ranking.segments[head]!, place);
  return placeOf;
}

const segmentsOf = (asked: ReadonlyMap<number, number>) => Uint32Array.from(asked.keys()).sort();

/** Lets all lists of the kind rate a Segment that has the words as they are written and that no list named. */
function addWritten(
  segment: number,
  place: number,
  { list }: EvidenceList,
  lists: readonly EvidenceList[],
  asked: readonly Map<number, number>[],
  places: Map<number, Place>,
): void {
  if (!places.has(place)) places.set(place, { ...newPlace(place, segment), segments: 1 });
  for (const [at, other] of lists.entries())
    if (other.list.traits.kind === list.traits.kind) asked[at]!.set(segment, place);
}

/** Notes what a list says of each place: of its Segment that has the words as they are written, or else of its best one. */
function apply(
  { list: { name } }: EvidenceList,
  rating: Rating,
  segments: Uint32Array,
  placeOf: ReadonlyMap<number, number>,
  heads: ReadonlyMap<number, number>,
  places: ReadonlyMap<number, Place>,
): void {
  for (const [at, segment] of segments.entries()) {
    const score = rating.scores[at]!;
    if (Number.isNaN(score)) continue;
    const { evidence } = places.get(placeOf.get(segment)!)!;
    const said = { score, held: rating.held[at]!, written: rating.written.has(segment), segment };
    const before = evidence.get(name);
    if (!before || isBetter(said, before)) evidence.set(name, said);
  }
  let rank = 0;
  for (const place of heads.keys()) {
    rank += 1;
    const { evidence } = places.get(place)!;
    const said = evidence.get(name);
    if (said) evidence.set(name, { ...said, rank });
  }
}

function isBetter(one: ListEvidence, other: ListEvidence): boolean {
  return one.written === other.written ? one.score > other.score : one.written;
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
    places.get(place)!.evidence.set(list.name, { score, held: 0, written: false, segment, rank });
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
