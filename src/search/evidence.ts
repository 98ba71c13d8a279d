import type { Family, ListName, SegmentKind } from '../domain/family.ts';
import { firstOfPlace, type Place, placeAt, type RankedList, type Rating } from '../shard/snapshot.ts';
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

/** What one list says of a moment: its score for the best of its Segments. */
export interface ListEvidence {
  readonly score: number;
  /** Of words: share of the query's information in that Segment. */
  readonly held: number;
  /** Of words: share of the query's information that is in codes, numbers and names which that Segment lacks. */
  readonly lacks: number;
  /** Of words: that Segment is one of few with every word as it is written. */
  readonly written: boolean;
  readonly segment: number;
  /** The Segment's text is about the file and not in it. */
  readonly note?: boolean | undefined;
  /** Of the place in the list, from 1; absent where another list found it. */
  readonly rank?: number | undefined;
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

/**
 * A moment that a list found, with what every list of the kind says of it: a shot of a film or a stretch of a recording, whose place
 * is the whole; a page or a section, which is its own place.
 */
export interface Candidate extends Omit<Place, 'note'> {
  /** The earliest of the place's Segments, and how many of them are in any list. */
  readonly first: number;
  readonly segments: number;
  readonly evidence: ReadonlyMap<ListName, ListEvidence>;
}

export interface Evidence {
  readonly scales: readonly Scale[];
  readonly candidates: readonly Candidate[];
}

const NO_SAMPLE = { count: 0, mean: 0, deviation: 0 };
/** Moments of a film that each list names. */
const MOMENTS_MAX = 10;

/**
 * What the lists say of the first `depth` places of each, and of the few that have the words as they are written. A moment that one
 * list found is rated by all lists of its kind: what is said of it does not depend on how deep another list was read.
 */
export function evidenceOf(lists: readonly EvidenceList[], depth: number): Evidence {
  const heads = lists.map(({ ranking }) => headsOf(ranking, depth));
  const moments = momentsOf(heads);
  const asked = lists.map((list) => askedOf(list, lists, heads));
  const rated = asked.map(segmentsOf);
  const ratings = lists.map((list, at) => list.rate?.(rated[at]!));
  for (const [at, rating] of ratings.entries())
    for (const [segment, place] of rating?.written ?? [])
      if (!asked[at]!.has(segment)) addWritten(segment, place, lists[at]!, lists, asked, moments);
  const scales = lists.map((list, at) => {
    const { traits, name } = list.list;
    const { family, kind, nearIdentical = false } = traits;
    const isMore = asked[at]!.size > rated[at]!.length;
    const segments = isMore ? segmentsOf(asked[at]!) : rated[at]!;
    const rating = isMore ? list.rate?.(segments) : ratings[at];
    if (rating) apply(list, rating, segments, asked[at]!, heads[at]!, moments);
    else take(list, heads[at]!, moments);
    const { information = 0, sample = NO_SAMPLE } = rating ?? {};
    return { name, family, kind, nearIdentical, foreign: list.foreign, information, sample };
  });
  countSegments(lists, moments);
  return { scales, candidates: [...moments.values()] };
}

/** The best Segment of a moment in a list. */
interface Head extends Place {
  readonly segment: number;
  readonly score: number;
  /** Of its place, from 1. */
  readonly rank: number;
}

type Heads = ReadonlyMap<number, Head>;

interface Moment extends Omit<Place, 'note'> {
  first: number;
  segments: number;
  readonly evidence: Map<ListName, ListEvidence>;
}

type Moments = Map<number, Moment>;

/** The moments of a list's first `depth` places. */
function headsOf(ranking: RankedList, depth: number): Heads {
  const heads = new Map<number, Head>();
  const met = new Map<number, { readonly rank: number; moments: number }>();
  const { segments, scores } = ranking;
  for (let at = 0; at < segments.length; at += 1) {
    const { place, moment, size, note } = placeAt(ranking, at);
    if (heads.has(moment)) continue;
    let of = met.get(place);
    if (!of) {
      if (met.size === depth) continue;
      of = { rank: met.size + 1, moments: 0 };
      met.set(place, of);
    }
    if (of.moments === MOMENTS_MAX) continue;
    of.moments += 1;
    heads.set(moment, {
      place,
      moment,
      size,
      note,
      segment: segments[at]!,
      score: scores[at]!,
      rank: of.rank,
    });
  }
  return heads;
}

function momentsOf(heads: readonly Heads[]): Moments {
  const moments: Moments = new Map();
  for (const of of heads)
    for (const head of of.values())
      if (!moments.has(head.moment)) moments.set(head.moment, newMoment(head, head.segment));
  return moments;
}

const newMoment = ({ place, moment, size }: Place, first: number): Moment => ({
  place,
  moment,
  size,
  first,
  segments: 0,
  evidence: new Map(),
});

/** The heads of all lists of a list's kind, which it is to rate. */
function askedOf(
  { list }: EvidenceList,
  lists: readonly EvidenceList[],
  heads: readonly Heads[],
): Map<number, Place> {
  const placeOf = new Map<number, Place>();
  for (const [at, other] of lists.entries())
    if (other.list.traits.kind === list.traits.kind)
      for (const head of heads[at]!.values()) placeOf.set(head.segment, head);
  return placeOf;
}

/** Ascending. */
function segmentsOf(asked: ReadonlyMap<number, Place>): Uint32Array {
  // A typed array takes several times as long to be made from an iterator.
  const segments = new Uint32Array(asked.size);
  let at = 0;
  for (const segment of asked.keys()) segments[at++] = segment;
  return segments.sort();
}

/** Lets all lists of the kind rate a Segment that has the words as they are written and that no list named. */
function addWritten(
  segment: number,
  place: Place,
  { list }: EvidenceList,
  lists: readonly EvidenceList[],
  asked: readonly Map<number, Place>[],
  moments: Moments,
): void {
  if (!moments.has(place.moment)) moments.set(place.moment, { ...newMoment(place, segment), segments: 1 });
  for (const [at, other] of lists.entries())
    if (other.list.traits.kind === list.traits.kind) asked[at]!.set(segment, place);
}

/** Notes what a list says of each moment: of its Segment that has the words as they are written, or else of its best one. */
function apply(
  { list: { name } }: EvidenceList,
  rating: Rating,
  segments: Uint32Array,
  placeOf: ReadonlyMap<number, Place>,
  heads: Heads,
  moments: Moments,
): void {
  for (let at = 0; at < segments.length; at += 1) {
    const segment = segments[at]!;
    const score = rating.scores[at]!;
    if (Number.isNaN(score)) continue;
    const { moment, note } = placeOf.get(segment)!;
    const { evidence } = moments.get(moment)!;
    const written = rating.written.has(segment);
    const rank = heads.get(moment)?.rank;
    const said = { score, held: rating.held[at]!, lacks: rating.lacks[at]!, written, segment, note, rank };
    const before = evidence.get(name);
    if (!before || isBetter(said, before)) evidence.set(name, said);
  }
}

function isBetter(one: ListEvidence, other: ListEvidence): boolean {
  return one.written === other.written ? one.score > other.score : one.written;
}

/** Takes a list as it is. */
function take({ list }: EvidenceList, heads: Heads, moments: Moments): void {
  for (const [moment, { score, segment, rank }] of heads)
    moments.get(moment)!.evidence.set(list.name, { score, held: 0, lacks: 0, written: false, segment, rank });
}

/** Counts the Segments of each place that are in any list. */
function countSegments(lists: readonly EvidenceList[], moments: Moments): void {
  const places = new Map<number, { first: number; segments: number }>();
  for (const { place } of moments.values())
    places.set(place, { first: Number.POSITIVE_INFINITY, segments: 0 });
  const counted = lists.length > 1 ? new Set<number>() : undefined;
  for (const { ranking } of lists) {
    const { segments } = ranking;
    for (let at = 0; at < segments.length; at += 1) {
      const of = places.get(firstOfPlace(ranking, at));
      if (!of) continue;
      const segment = segments[at]!;
      if (counted?.has(segment)) continue;
      counted?.add(segment);
      if (segment < of.first) of.first = segment;
      of.segments += 1;
    }
  }
  for (const moment of moments.values()) {
    const of = places.get(moment.place)!;
    if (of.segments === 0) continue;
    moment.first = of.first;
    moment.segments = of.segments;
  }
}
