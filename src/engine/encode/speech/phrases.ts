import type { ByteTokens } from './byte-tokens.ts';
import { type Chosen, TIMES_PER_SECOND } from './choice.ts';

/** Text spoken between two seconds of a clip. */
export interface Phrase {
  readonly time_s: number;
  readonly time_end_s: number;
  readonly text: string;
  /** Geometric mean of the probabilities of its tokens, 0..1. */
  readonly certainty: number;
}

/** A decoder that is lost repeats itself: runs of tokens that follow one another so often are no speech. */
const LOOP_TOKENS_MAX = 24;
const LOOP_REPEATS: readonly (readonly [tokens: number, repeats: number])[] = [
  [1, 8],
  [4, 5],
  [LOOP_TOKENS_MAX, 3],
];

/**
 * How many of the last tokens repeat those before them so often that the decoder is lost: all but the first time. 0 where none do.
 * @param words tokens without times
 */
export function repeated(words: readonly number[]): number {
  for (let length = 1; length <= LOOP_TOKENS_MAX; length++) {
    const [, repeats] = LOOP_REPEATS.find(([tokens]) => length <= tokens)!;
    const start = words.length - length * repeats;
    if (start < 0) continue;
    let isLoop = true;
    for (let at = start + length; isLoop && at < words.length; at++)
      isLoop = words[at] === words[at - length];
    if (isLoop) return length * (repeats - 1);
  }
  return 0;
}

/**
 * Phrases of a clip's tokens. A phrase without an end lasts until the clip's.
 * @param firstTime the token of second 0
 */
export function phrasesOf(
  chosen: readonly Chosen[],
  tokens: ByteTokens,
  firstTime: number,
  seconds: number,
): Phrase[] {
  const phrases: Phrase[] = [];
  let [began, words]: [number, Chosen[]] = [0, []];
  const close = (time_end_s: number): void => {
    const text = tokens.text(words.map(({ id }) => id)).trim();
    const mean = words.reduce((sum, { logProbability }) => sum + logProbability, 0) / words.length;
    if (text !== '') phrases.push({ time_s: began, time_end_s, text, certainty: Math.exp(mean) });
    words = [];
  };
  for (const token of chosen) {
    if (token.id < firstTime) {
      words.push(token);
      continue;
    }
    const second = Math.min(seconds, (token.id - firstTime) / TIMES_PER_SECOND);
    if (words.length > 0) close(second);
    began = second;
  }
  if (words.length > 0) close(seconds);
  return phrases;
}

/**
 * Phrases of human speech in five languages are at .48 and more, what the model makes of music, noise and hum at .31 and less; of
 * artificial voices those at .3 have half of their words right, those below nearly none (docs/design/encoders.md).
 */
const CERTAINTY_MIN = 0.3;
/** A phrase below it is searchable, and the item tells that it is uncertain. */
export const CERTAIN_FROM = 0.4;
/** Nobody says so much in a second. */
const CHARACTERS_PER_SECOND_MAX = 40;

/** Whether a phrase is plausible: a model makes words of every sound. */
export function isBelieved({ time_s, time_end_s, text, certainty }: Phrase): boolean {
  if (certainty < CERTAINTY_MIN || !/[\p{L}\p{N}]/u.test(text)) return false;
  return text.length <= CHARACTERS_PER_SECOND_MAX * Math.max(1, time_end_s - time_s);
}
