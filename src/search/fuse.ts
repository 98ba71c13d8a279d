import type { HitExplanation } from '../api/search.ts';
import { type Family, type ListName, SEGMENT_KINDS, type SegmentKind } from '../domain/family.ts';
import type { Candidate, Evidence } from './evidence.ts';
import { type Likelihood, passageLikelihoods, pictureLikelihoods, type Query } from './likelihood.ts';
import type { ServedList } from './lists.ts';

/** A page, section or film, with what all lists say of it. */
export interface FusedPlace {
  readonly segment: number;
  readonly family: Family;
  /** Log-odds that it answers: orders the hits. */
  readonly score: number;
  /** The probability of these log-odds. */
  readonly confidence: number;
  /** Number of Segments of the place in any list. */
  readonly segments: number;
  /** The other moments of a film, best first. */
  readonly moments: readonly FusedMoment[];
  readonly explanation?: HitExplanation;
}

export interface FusedMoment {
  readonly segment: number;
  readonly confidence: number;
}

export interface FuseOptions {
  readonly k: number;
  /** Places that are less likely are left out. */
  readonly minConfidence?: number;
  readonly explain?: boolean;
  readonly query: Query;
  /** Share of its evidence that a list keeps where its model does not know the query's language. */
  readonly unknownLanguageShare: number;
}

/** A moment with the kind by which it is likeliest. */
interface FoundMoment {
  readonly candidate: Candidate;
  readonly kind: SegmentKind;
  readonly likelihood: Likelihood;
  readonly confidence: number;
}

const LIKELIHOODS = {
  passages: passageLikelihoods,
  pictures: pictureLikelihoods,
} as const satisfies Record<SegmentKind, unknown>;

/**
 * The likeliest `k` places, best first; of equal ones the earlier ingested is first. A page may be found by its text and by its
 * look: the likelier kind counts, never the sum. Of a film the likeliest moment counts.
 */
export function fuse(
  { scales, candidates }: Evidence,
  lists: ReadonlyMap<ListName, ServedList>,
  { k, minConfidence = 0, explain = false, query, unknownLanguageShare }: FuseOptions,
): FusedPlace[] {
  const best = new Map<Candidate, { readonly kind: SegmentKind; readonly likelihood: Likelihood }>();
  for (const kind of SEGMENT_KINDS) {
    const own = scales.filter((scale) => scale.kind === kind);
    if (own.length === 0) continue;
    const found = candidates.filter(({ evidence }) => own.some(({ name }) => evidence.has(name)));
    const likelihoods = LIKELIHOODS[kind](found, own, lists, unknownLanguageShare, query);
    for (const [candidate, likelihood] of likelihoods) {
      const before = best.get(candidate);
      if (!before || likelihood.logOdds > before.likelihood.logOdds)
        best.set(candidate, { kind, likelihood });
    }
  }
  const likely: FoundMoment[] = [];
  for (const [candidate, { kind, likelihood }] of best) {
    const confidence = probabilityOf(likelihood.logOdds);
    if (confidence >= minConfidence) likely.push({ candidate, kind, likelihood, confidence });
  }
  likely.sort(
    ({ candidate: a, likelihood: one }, { candidate: b, likelihood: other }) =>
      other.logOdds - one.logOdds || a.first - b.first || a.moment - b.moment,
  );
  const places = new Map<number, typeof likely>();
  for (const one of likely) {
    const moments = places.get(one.candidate.place);
    if (moments) moments.push(one);
    else places.set(one.candidate.place, [one]);
  }
  return [...places.values()].slice(0, k).map(([shown, ...others]) => {
    const { candidate, kind, likelihood, confidence } = shown!;
    return {
      segment: likelihood.segment,
      family: likelihood.family,
      score: likelihood.logOdds,
      confidence,
      segments: candidate.segments,
      moments: others.map(({ likelihood: { segment }, confidence }) => ({ segment, confidence })),
      ...(explain && { explanation: explanationOf(candidate, scales, kind, likelihood) }),
    };
  });
}

export function probabilityOf(logOdds: number): number {
  return 1 / (1 + Math.exp(-logOdds));
}

function explanationOf(
  { evidence }: Candidate,
  scales: Evidence['scales'],
  kind: SegmentKind,
  { base, parts }: Likelihood,
): HitExplanation {
  const lists = scales.flatMap(({ name, kind: of, family }) => {
    const said = evidence.get(name);
    if (!said) return [];
    const { rank, score } = said;
    const part = of === kind ? (parts[name] ?? 0) : 0;
    return [{ list: name, kind: of, family, ...(rank !== undefined && { rank }), raw_score: score, part }];
  });
  return { lists, kind, base };
}
