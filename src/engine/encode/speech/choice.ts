import type { ManifestSpeech } from '../models/manifest.ts';

/** A token that was chosen, and the logarithm of its probability among those that were allowed. */
export interface Chosen {
  readonly id: number;
  readonly logProbability: number;
}

/** Steps of time tokens: 50 a second in every Whisper model. */
export const TIMES_PER_SECOND = 50;
/** The first phrase begins within a second: clips begin at speech. */
const FIRST_TIME_SECONDS_MAX = 1;

/**
 * Which token may follow, by the rules of Whisper's published decoder (`ApplyTimestampRules`, `SuppressTokens`, `SuppressBlank`): a
 * phrase stands between two times, times do not go back, and where all times together are likelier than any word, a time follows.
 */
export class TokenChoice {
  readonly #speech: ManifestSpeech;
  readonly #never: ReadonlySet<number>;
  readonly #neverFirst: ReadonlySet<number>;

  constructor(speech: ManifestSpeech) {
    this.#speech = speech;
    this.#never = new Set(speech.suppressed);
    this.#neverFirst = new Set([...speech.suppressed, ...speech.suppressed_first]);
  }

  get firstTime(): number {
    return this.#speech.no_times + 1;
  }

  isTime(id: number): boolean {
    return id >= this.firstTime;
  }

  /** The likeliest token that may follow those that were chosen. @param logits for every token */
  next(logits: Float32Array, chosen: readonly number[], secondsMax: number): Chosen {
    const { end } = this.#speech;
    const never = chosen.length === 0 ? this.#neverFirst : this.#never;
    const { words, ends, from, to } = this.#allowed(chosen, secondsMax);
    const word = words ? likeliest(logits, 0, end, never) : NONE;
    const ending = ends && !never.has(end) ? { id: end, logit: logits[end]! } : NONE;
    const time = likeliest(logits, from, to, never);
    const highest = Math.max(word.logit, ending.logit, time.logit);
    const wordSum = words ? sumOf(logits, 0, end, highest, never) : 0;
    const timeSum = sumOf(logits, from, to, highest, never);
    const endSum = ending === NONE ? 0 : Math.exp(ending.logit - highest);
    const isTimeLikelier = timeSum > Math.exp(Math.max(word.logit, ending.logit) - highest);
    const best = isTimeLikelier ? time : word.logit >= ending.logit ? word : ending;
    const sum = isTimeLikelier ? timeSum : wordSum + timeSum + endSum;
    return { id: best.id, logProbability: best.logit - highest - Math.log(sum) };
  }

  /** Whether words and the end may follow, and the times that may: ids from, up to but not including to. */
  #allowed(
    chosen: readonly number[],
    secondsMax: number,
  ): { words: boolean; ends: boolean; from: number; to: number } {
    const last = chosen.at(-1);
    const before = chosen.at(-2);
    const longest = this.firstTime + Math.floor(secondsMax * TIMES_PER_SECOND) + 1;
    if (last === undefined) {
      const to = this.firstTime + FIRST_TIME_SECONDS_MAX * TIMES_PER_SECOND + 1;
      return { words: false, ends: false, from: this.firstTime, to: Math.min(to, longest) };
    }
    const time = chosen.findLast((id) => this.isTime(id)) ?? this.firstTime;
    if (!this.isTime(last)) return { words: true, ends: true, from: time + 1, to: longest };
    // The first time, or the one that begins a phrase right where another ended.
    const begins = before === undefined || this.isTime(before);
    return begins
      ? { words: true, ends: true, from: 0, to: 0 }
      : { words: false, ends: true, from: time, to: longest };
  }
}

interface Candidate {
  readonly id: number;
  readonly logit: number;
}

const NONE: Candidate = { id: -1, logit: Number.NEGATIVE_INFINITY };

function likeliest(logits: Float32Array, from: number, to: number, never: ReadonlySet<number>): Candidate {
  let [id, logit] = [-1, Number.NEGATIVE_INFINITY];
  for (let at = from; at < Math.min(to, logits.length); at++)
    if (logits[at]! > logit && !never.has(at)) [id, logit] = [at, logits[at]!];
  return { id, logit };
}

function sumOf(
  logits: Float32Array,
  from: number,
  to: number,
  highest: number,
  never: ReadonlySet<number>,
): number {
  let sum = 0;
  for (let at = from; at < Math.min(to, logits.length); at++)
    if (!never.has(at)) sum += Math.exp(logits[at]! - highest);
  return sum;
}

/** Probability of one token among some, ids from, up to and including to. */
export function shareOf(logits: Float32Array, id: number, from = 0, to = logits.length - 1): number {
  let highest = Number.NEGATIVE_INFINITY;
  for (let at = from; at <= to; at++) highest = Math.max(highest, logits[at]!);
  let sum = 0;
  for (let at = from; at <= to; at++) sum += Math.exp(logits[at]! - highest);
  return Math.exp(logits[id]! - highest) / sum;
}

/** The likeliest of some tokens, ids from, up to and including to. */
export function likeliestOf(logits: Float32Array, from: number, to: number): number {
  return likeliest(logits, from, to + 1, new Set()).id;
}
