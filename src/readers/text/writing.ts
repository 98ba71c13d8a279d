/** Characters that are looked at. */
/** What is looked at to recognise writing, in UTF-16 units and bytes; all of it is read. */
const JUDGED_MAX = 64 * 1024;
/** Fewer characters say too little for statistics. */
const JUDGED_MIN = 400;

/** Control characters but for those of a terminal's control sequence (ECMA-48, 5.4), as coloured logs have them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character is what it is about
const STRAY_CONTROL = /(?!\x1b[@-_]|[\t\n\v\f\r\u0085])\p{Cc}/gu;
/** Code points that nobody writes: unassigned, private, half of a pair, damaged. */
const UNWRITTEN = /[\p{Cn}\p{Co}\p{Cs}\ufffd]/gu;
const STRAY_SHARE_MAX = 0.02;

/** Letters, and signs beyond ASCII that may stand for letters of another character set. */
const WORD = /(?:[\p{L}\p{M}]|(?![\u3000-\u303f\uff00-\uff0f\uff1a-\uff20])[^\p{ASCII}\p{N}\p{Z}])+/gu;
/** Letters whose case changes as in no language, or with a sign among them. */
const REGULAR =
  /^[^\p{L}]*(?:(?:[\p{Lu}\p{Lt}]?[\p{Ll}\p{Lo}\p{Lm}\p{M}ªº]+|[\p{Lu}\p{M}]+|\p{Lu})(?:[’‘ʼ‐-—·\u00ad\u200b-\u200d]|$|(?=[^\p{L}]+$))[^\p{L}]*)*$/u;
const IRREGULAR_SHARE_MAX = 0.25;

const SIGN = /[^\p{ASCII}\p{L}\p{M}\p{N}\p{Z}\u3000-\u303f\uff00-\uffef]/gu;
const SIGNS_SHARE_MAX = 0.2;
/** Scripts without gaps between words, or with short words. */
const SYLLABLES =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Khmer}]/gu;
const GAPS = /[\s\p{P}\p{S}]/gu;
const GAPS_SHARE_MIN = 0.03;
const WORD_LENGTH_MIN = 2.4;
/** Pairs of characters meet again this much more often than if they did not depend on each other. In writing, twice as often. */
const PAIRS_RATIO_MIN = 1.25;
const TRIPLE = /(\p{L})\1\1/gu;
const TRIPLES_SHARE_MAX = 0.02;
/** Bytes whose values differ by at most this, and the share of them. In writing, at most a half; in pixels and sound, most. */
const NEAR = 10;
const SMOOTHNESS_MAX = 0.6;
/** Bytes from one value to the next of the same channel: pixels of a surface are alike by their colours, not by their neighbours. */
const CHANNELS = [1, 2, 3, 4] as const;
const LETTERS_FROM = 0x41;

/**
 * Whether text that was decoded by a guess is writing: noise, pixels and samples of sound decode to something, too. Only
 * lines with a character beyond printable ASCII are judged: the others are text for certain.
 */
export function looksWritten(text: string, bytes: Uint8Array): boolean {
  const judged = doubtfulLines(text);
  const count = (pattern: RegExp): number => judged.match(pattern)?.length ?? 0;
  if (count(STRAY_CONTROL) + count(UNWRITTEN) > judged.length * STRAY_SHARE_MAX)
    return judged.length < JUDGED_MIN;
  if (judged.length < JUDGED_MIN) return true;
  const words = judged.match(WORD) ?? [];
  const letters = words.reduce((sum, word) => sum + word.length, 0);
  const isOfSyllables = count(SYLLABLES) > letters / 2;
  return (
    irregularity(judged) <= IRREGULAR_SHARE_MAX &&
    count(SIGN) <= judged.length * SIGNS_SHARE_MAX &&
    (isOfSyllables || count(GAPS) >= judged.length * GAPS_SHARE_MIN) &&
    (isOfSyllables || letters >= words.length * WORD_LENGTH_MIN) &&
    count(TRIPLE) <= letters * TRIPLES_SHARE_MAX &&
    pairsRatio(judged) >= PAIRS_RATIO_MIN &&
    CHANNELS.every((step) => smoothness(bytes.subarray(0, JUDGED_MAX), step) <= SMOOTHNESS_MAX)
  );
}

/** Share of the words with a character beyond ASCII that no language writes so, by their length: high in a wrong character set. */
export function irregularity(text: string): number {
  let [length, irregular] = [0, 0];
  for (const word of text.slice(0, JUDGED_MAX).match(WORD) ?? []) {
    if (!/[^\p{ASCII}]/u.test(word)) continue;
    length += word.length;
    if (!REGULAR.test(word)) irregular += word.length;
  }
  return irregular / Math.max(1, length);
}

function doubtfulLines(text: string): string {
  const lines = text.slice(0, JUDGED_MAX).split('\n');
  return lines.filter((line) => /[^\t\r\f\x20-\x7e]/.test(line)).join('\n');
}

/**
 * How much more often two places hold the same pair of different characters than if each were drawn by itself: the index of
 * coincidence of pairs over that of independent characters (Friedman, 1922). A run of one character counts once.
 */
function pairsRatio(text: string): number {
  const singles = new Map<string, number>();
  const pairs = new Map<string, number>();
  let [before, length] = ['', 0];
  for (const character of text) {
    if (character === before) continue;
    singles.set(character, (singles.get(character) ?? 0) + 1);
    pairs.set(before + character, (pairs.get(before + character) ?? 0) + 1);
    before = character;
    length++;
  }
  let [same, squares, fourths] = [0, 0, 0];
  for (const count of pairs.values()) same += count * (count - 1);
  for (const count of singles.values()) {
    squares += (count / length) ** 2;
    fourths += (count / length) ** 4;
  }
  const independent = (squares ** 2 - fourths) / (1 - squares) ** 2;
  return same / ((length - 1) * (length - 2)) / independent;
}

/** Share of different bytes at a distance, of which one may be a letter, whose values are nearly the same. */
function smoothness(bytes: Uint8Array, distance: number): number {
  let [near, different] = [0, 0];
  for (let at = distance; at < bytes.length; at++) {
    const [byte, before] = [bytes[at]!, bytes[at - distance]!];
    const step = Math.abs(byte - before);
    // Digits and the signs between them are neighbours in ASCII, too.
    if (step === 0 || Math.max(byte, before) < LETTERS_FROM) continue;
    different++;
    if (step <= NEAR) near++;
  }
  return near / Math.max(1, different);
}
