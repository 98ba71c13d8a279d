import type { Family, ListName } from '../domain/family.ts';
import { CURVE_FEATURES } from '../encode/models/manifest.ts';
import type { Candidate, ListEvidence, Scale } from './evidence.ts';
import type { ServedList } from './lists.ts';

/**
 * Log-odds that a place answers, from what the lists of one kind say of it. Confidence is their logistic function (Platt 1999,
 * "Probabilistic outputs for support vector machines"). The parameters come from the manifest; `bench/calibration` fits them.
 */
export interface Likelihood {
  readonly logOdds: number;
  /** What holds for every place of the kind alike; with `parts` it sums to `logOdds`. */
  readonly base: number;
  readonly parts: Readonly<Partial<Record<ListName, number | undefined>>>;
  /** The list that contributed most, and the Segment that it found. */
  readonly family: Family;
  readonly segment: number;
}

export type Feature = (typeof CURVE_FEATURES)[number];

/** The log-odds of a first place: a bias, and for each feature how much it counts; absent features count nothing. */
export interface Curve extends Partial<Readonly<Record<Feature, number>>> {
  readonly bias: number;
  /** Log-odds for each unit by which a place is ordered behind the first. */
  readonly slope: number;
}

export interface Query {
  /** Segments of the index. */
  readonly segments: number;
  /** It describes no picture: it quotes a phrase, or `asks` something. */
  readonly describesNone: boolean;
  readonly asks?: boolean;
}

type Likelihoods = ReadonlyMap<Candidate, Likelihood>;

/** Distribution of cosines that a sample is blended with, as if it were of so many Segments more: it decides where an index is tiny. */
const PRIOR = { count: 30, mean: 0.08, deviation: 0.1 };
/** Where a model has no measured curve: it orders, and is believed little. */
const CONSERVATIVE: Curve = { bias: -1.5, slope: 3, gap: 1 };
/** The same for pictures: log-odds, and what a deviation above the best of random ones counts. */
const CONSERVATIVE_PICTURE = { bias: -1.5, deviation: 0.3 };
/**
 * What the words of a note about a file (a date, a camera, a name) count: a text with the same words comes first, however long it is. A note
 * that alone has every word of the query counts whole.
 */
const NOTE_SHARE = 0.5;
const GAP_MAX = 0.6;
const GAP_SIXTH_MAX = 1;
const NEXT = 10;
const COSINE_LEAD_MAX = 0.3;
const WHOLE = 0.999;
/** Words that a query which is no name has at least, stop words not counted; and words that a question has. */
const SENTENCE_WORDS = 2.9;
const QUESTION_WORDS = 1.9;
/** How far those that have the words as written stand at least before the others. */
const WRITTEN_LEAD = 0.05;
/** Log-odds of a picture of which nothing is known. */
const PICTURE_PRIOR = -2.2;
/** A likeness never reaches the log-odds of a near-identical picture. */
const LIKENESS_MAX = 7;
const LEAD_MAX = 0.2;
const IDENTITY = 10;
const IDENTITY_SPREAD = 10;
/**
 * A film has as many chances to look like a description as it has frames. This share of what the best of so many random pictures would
 * have above the others is taken off; it is no more since frames are alike. By cosine alone, with it 18, 17 and 17 of 21 captioned photographs are
 * among the first five beside films, PDFs and both, 18 alone, and without it 16, 17 and 16.
 */
const CHANCES_SHARE = 0.3;
/**
 * Log-odds that a picture loses where the query quotes a phrase or asks something: words are looked for, and they describe no picture. Of 113
 * quoted phrases that were nowhere, 8 % found a picture above the clients' floor of .02 (98 % without), of 21 quoted captions 57 % (95 %).
 */
const NO_DESCRIPTION = 1.5;
/** Share by which likeness orders near-identical pictures among themselves. */
const LIKENESS_TIEBREAK = 0.01;

/** Deviations of a score from the index's own scores for the query. */
export function deviationsOf(score: number, sample: Scale['sample']): number {
  const { count, mean } = sample;
  const blended = (count * mean + PRIOR.count * PRIOR.mean) / (count + PRIOR.count);
  return (score - blended) / deviationOf(sample);
}

function deviationOf({ count, deviation }: Scale['sample']): number {
  return Math.sqrt((count * deviation ** 2 + PRIOR.count * PRIOR.deviation ** 2) / (count + PRIOR.count));
}

/**
 * Deviations of a cosine from those of unrelated texts: on the model's own scale, which no other Segments of an index change; from
 * the index's scores for the query where the manifest has none.
 */
function passageDeviations(cosine: number, sample: Scale['sample'], scale?: ServedList['scale']): number {
  return scale ? (cosine - scale.mean) / scale.deviation : deviationsOf(cosine, sample);
}

/** What the best of so many independent normal scores is expected to reach, in deviations. */
const expectedBest = (segments: number): number => Math.sqrt(2 * Math.log(Math.max(1, segments)));

/** What a list says of a place that it does not have. */
const NOT_FOUND: Omit<ListEvidence, 'segment'> = { score: 0, held: 0, lacks: 0, written: false };

/** A passage in the order, with each list's part of it. */
export interface Ordered {
  readonly candidate: Candidate;
  readonly words: number;
  readonly meaning: number;
  readonly order: number;
  /** BM25. */
  readonly score: number;
  readonly held: number;
  /** Share of the query's information that is in codes, numbers and names which it lacks. */
  readonly lacks: number;
  /** It is one of few that have every word as it is written. */
  readonly written: boolean;
  readonly cosine: number;
  readonly deviations: number;
}

/** Passages with the first place's evidence, and how far the others are behind it. */
export function passageLikelihoods(
  candidates: readonly Candidate[],
  scales: readonly Scale[],
  lists: ReadonlyMap<ListName, ServedList>,
  unknownLanguageShare: number,
  query: Query,
): Likelihoods {
  const ordered = orderPassages(candidates, scales, lists, unknownLanguageShare);
  const [top] = ordered;
  if (!top) return new Map();
  const places = bestOfEachPlace(ordered);
  const asked = (name: ListName) =>
    scales.some((scale) => scale.name === name) ? lists.get(name) : undefined;
  const words = isByMeaningAlone(ordered, scales, query) ? undefined : asked('raw_words');
  const curve = curveOf(words, asked('text_semantic'));
  const features = featuresOf(places, scales);
  let first = curve.bias;
  for (const name of CURVE_FEATURES) first += (curve[name] ?? 0) * features[name];
  const base = first - curve.slope * top.order;
  return new Map(ordered.map((one) => [one.candidate, passageLikelihood(one, curve, base)]));
}

/**
 * Passages, best first: by the share that their BM25 score has of the query's best one, plus their cosine in deviations, plus
 * what it counts to have every word of the query; first those few that have every word as it is written.
 */
export function orderPassages(
  candidates: readonly Candidate[],
  scales: readonly Scale[],
  lists: ReadonlyMap<ListName, Pick<ServedList, 'weight' | 'whole' | 'scale'>>,
  unknownLanguageShare: number,
): Ordered[] {
  const { weight: wordsWeight = 0, whole: wholeWeight = 0 } = lists.get('raw_words') ?? {};
  const scale = scales.find(({ name }) => name === 'text_semantic');
  const semantic = lists.get('text_semantic');
  const meaningWeight = (semantic?.weight ?? 0) * (scale?.foreign ? unknownLanguageShare : 1);
  let best = 0;
  let bestCosine = 0;
  let isContentWhole = false;
  for (const { evidence } of candidates) {
    const found = evidence.get('raw_words') ?? NOT_FOUND;
    best = Math.max(best, found.score);
    bestCosine = Math.max(bestCosine, evidence.get('text_semantic')?.score ?? 0);
    isContentWhole ||= !found.note && found.held > WHOLE;
  }
  const ordered = candidates.map((candidate): Ordered => {
    const found = candidate.evidence.get('raw_words') ?? NOT_FOUND;
    const { score, held, lacks, written } = found;
    const whole = held > WHOLE;
    // A name has no vector. One that holds the whole query means it as much as any passage.
    const meant = candidate.evidence.get('text_semantic')?.score ?? (whole ? bestCosine : undefined);
    const share = found.note && (!whole || isContentWhole) ? NOTE_SHARE : 1;
    const words = best > 0 ? share * (wordsWeight * (score / best) + (whole ? wholeWeight : 0)) : 0;
    const cosine = meant ?? 0;
    const deviations =
      scale && meant !== undefined ? passageDeviations(cosine, scale.sample, semantic?.scale) : 0;
    const meaning = meaningWeight * deviations;
    return {
      candidate,
      words,
      meaning,
      order: words + meaning,
      score,
      held,
      lacks,
      written,
      cosine,
      deviations,
    };
  });
  return lifted(ordered).sort((a, b) => b.order - a.order || a.candidate.first - b.candidate.first);
}

/** Passages that have rare words as they are written come before likenesses and other forms of the words. */
function lifted(places: readonly Ordered[]): Ordered[] {
  const written = places.filter((place) => place.written);
  const others = places.filter((place) => !place.written);
  if (written.length === 0 || others.length === 0) return [...places];
  const best = Math.max(...others.map(({ order }) => order));
  const least = Math.min(...written.map(({ order }) => order));
  const lift = Math.max(0, best + WRITTEN_LEAD - least);
  const up = (place: Ordered) => ({ ...place, words: place.words + lift, order: place.order + lift });
  return [...written.map(up), ...others];
}

/** The moments of a film do not stand behind each other. */
function bestOfEachPlace(ordered: readonly Ordered[]): Ordered[] {
  const met = new Set<number>();
  return ordered.filter(({ candidate: { place } }) => !met.has(place) && met.add(place));
}

/**
 * The features of the first place: its distance to the second and to the sixth in units of the order; ln(1 + nats of the query's
 * information that it holds); the root of the share that is in codes, numbers and names which it lacks; whether it is one of few with every word as it is
 * written; the product of its shares of the lists' best evidence; its cosine, and how far the next ten are below it in the mean.
 */
export function featuresOf(ordered: readonly Ordered[], scales: readonly Scale[]): Record<Feature, number> {
  const top = ordered[0]!;
  const behind = (rank: number, most: number): number => {
    const other = ordered[rank];
    return other ? Math.min(most, top.order - other.order) : most;
  };
  const information = scales.find(({ name }) => name === 'raw_words')?.information ?? 0;
  return {
    gap: behind(1, GAP_MAX),
    gap_sixth: behind(5, GAP_SIXTH_MAX),
    held: Math.log1p(top.held * information),
    lacks: Math.sqrt(top.lacks),
    written: Number(top.written),
    agreement: agreementOf(ordered, scales),
    cosine: top.cosine,
    lead: cosineLead(ordered),
  };
}

/** How far the first place's cosine is above the mean of the next ten below it. */
function cosineLead(ordered: readonly Ordered[]): number {
  const { cosine } = ordered[0]!;
  const below = ordered
    .filter((one) => one.candidate.evidence.has('text_semantic') && one.cosine < cosine)
    .map((one) => one.cosine)
    .sort((a, b) => b - a)
    .slice(0, NEXT);
  const mean = below.reduce((sum, value) => sum + value, 0) / Math.max(1, below.length);
  return Math.min(COSINE_LEAD_MAX, cosine - mean);
}

/**
 * How much of the best of each list that knows the query's language the first place has: 1 where it is the first of both. A file's name
 * has no vector: meaning says nothing of it.
 */
function agreementOf(ordered: readonly Ordered[], scales: readonly Scale[]): number {
  const share = (of: (one: Ordered) => number): number => {
    const best = Math.max(...ordered.map(of));
    return best > 0 ? Math.max(0, of(ordered[0]!)) / best : 0;
  };
  const isForeign = scales.some(({ name, foreign }) => name === 'text_semantic' && foreign);
  const isSilent = isForeign || !ordered[0]!.candidate.evidence.has('text_semantic');
  return share(({ score }) => score) * (isSilent ? 1 : share(({ deviations }) => deviations));
}

/**
 * Whether no passage has any word of a sentence in a language that the text model knows, and nothing is named: its words say nothing
 * then. One or two words that are nowhere are more likely names, unless they ask something.
 */
function isByMeaningAlone(
  ordered: readonly Ordered[],
  scales: readonly Scale[],
  { segments, asks = false }: Query,
): boolean {
  const information = scales.find(({ name }) => name === 'raw_words')?.information ?? 0;
  const ofAbsentWord = Math.log1p((segments + 0.5) / 0.5);
  return (
    information >= (asks ? QUESTION_WORDS : SENTENCE_WORDS) * ofAbsentWord &&
    ordered.every(({ score, lacks }) => score === 0 && lacks === 0) &&
    scales.some(({ name, foreign }) => name === 'text_semantic' && !foreign)
  );
}

function curveOf(words: ServedList | undefined, meaning: ServedList | undefined): Curve {
  if (words && meaning) return meaning.with_words ?? words.curve ?? CONSERVATIVE;
  return (words ?? meaning)?.curve ?? CONSERVATIVE;
}

function passageLikelihood(
  { candidate, words, meaning }: Ordered,
  { slope }: Curve,
  base: number,
): Likelihood {
  const byWords = candidate.evidence.get('raw_words');
  const byMeaning = candidate.evidence.get('text_semantic');
  const parts = { raw_words: byWords && slope * words, text_semantic: byMeaning && slope * meaning };
  const logOdds = base + (parts.raw_words ?? 0) + (parts.text_semantic ?? 0);
  const isWords = byWords !== undefined && (byMeaning === undefined || words >= meaning);
  const family = isWords ? 'raw' : 'text_semantic';
  return { logOdds, base, parts, family, segment: (isWords ? byWords : byMeaning)!.segment };
}

/**
 * Pictures: the evidence of the lists adds up, as if they were independent. A near-identical picture stands above every
 * likeness; likeness then orders only those that are equally near.
 */
export function pictureLikelihoods(
  candidates: readonly Candidate[],
  scales: readonly Scale[],
  lists: ReadonlyMap<ListName, ServedList>,
  unknownLanguageShare: number,
  query: Query,
): Likelihoods {
  const likenesses = scales.filter(({ nearIdentical }) => !nearIdentical);
  const identity = scales.find(({ nearIdentical }) => nearIdentical);
  const base = likenesses.length > 0 ? PICTURE_PRIOR : 0;
  const leads = new Map(
    likenesses.map((scale) => {
      const found = candidates.filter(({ evidence }) => evidence.has(scale.name));
      const scores = found.map((candidate) => scoreOf(candidate, scale, lists));
      const leadOf = leadsOf(
        scores,
        found.map(({ place }) => place),
      );
      return [scale.name, new Map(found.map((candidate, at) => [candidate, leadOf[at]!]))];
    }),
  );
  return new Map(
    candidates.map((candidate) => {
      const near = identity && candidate.evidence.get(identity.name);
      const parts = new Map<ListName, number>();
      for (const scale of likenesses) {
        if (!candidate.evidence.has(scale.name)) continue;
        const score = scoreOf(candidate, scale, lists);
        const lead = leads.get(scale.name)!.get(candidate)!;
        const list = lists.get(scale.name)!;
        const odds = pictureLogOdds(score, lead, scale, list, query) - PICTURE_PRIOR;
        const lost = query.describesNone && isDescribed(list) ? NO_DESCRIPTION : 0;
        const part = (scale.foreign ? unknownLanguageShare : 1) * odds - lost;
        parts.set(scale.name, near ? LIKENESS_TIEBREAK * part : part);
      }
      if (near) parts.set(identity.name, IDENTITY + IDENTITY_SPREAD * near.score);
      const best = [...parts].reduce((one, other) => (other[1] > one[1] ? other : one));
      const { segment } = candidate.evidence.get(best[0])!;
      const { family } = scales.find(({ name }) => name === best[0])!;
      const logOdds = total(base, parts);
      return [candidate, { logOdds, base, parts: Object.fromEntries(parts), family, segment }];
    }),
  );
}

/** How far each score leads the best one of another place, or is behind it; within ±.2. @param places absent: each its own */
export function leadsOf(scores: readonly number[], places: readonly number[] = [...scores.keys()]): number[] {
  const bests = new Map<number, number>();
  for (const [at, place] of places.entries())
    bests.set(place, Math.max(bests.get(place) ?? Number.NEGATIVE_INFINITY, scores[at]!));
  const [best, second = best] = [...bests].sort(([, a], [, b]) => b - a);
  return scores.map((score, at) => {
    const other = places[at] === best![0] ? second : best;
    return Math.max(-LEAD_MAX, Math.min(LEAD_MAX, score - other![1]));
  });
}

/** The cosine, less what a film's many frames give it where words are asked for. */
function scoreOf(
  { evidence, size }: Candidate,
  { name, sample }: Scale,
  lists: ReadonlyMap<ListName, ServedList>,
): number {
  const { score } = evidence.get(name)!;
  if (!isDescribed(lists.get(name)!)) return score;
  return score - CHANCES_SHARE * expectedBest(size) * deviationOf(sample);
}

function isDescribed({ traits }: ServedList): boolean {
  return traits.asksWith === 'query';
}

function pictureLogOdds(
  score: number,
  lead: number,
  { sample }: Scale,
  { calibration }: ServedList,
  { segments }: Query,
): number {
  const odds = calibration
    ? calibration.a * score + calibration.b + (calibration.lead ?? 0) * lead
    : CONSERVATIVE_PICTURE.bias +
      CONSERVATIVE_PICTURE.deviation * (deviationsOf(score, sample) - expectedBest(segments));
  return odds < 0 ? -bounded(-odds, LIKENESS_MAX) : bounded(odds, LIKENESS_MAX / 2);
}

/** The odds themselves up to 1 below the limit; above that they still order, but never reach it. */
function bounded(odds: number, limit: number): number {
  const above = odds - (limit - 1);
  return above <= 0 ? odds : limit - 1 / (1 + above);
}

function total(base: number, parts: ReadonlyMap<ListName, number>): number {
  return [...parts.values()].reduce((sum, part) => sum + part, base);
}
