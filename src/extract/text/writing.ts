/** Bytes that are looked at. */
const JUDGED_BYTES_MAX = 64 * 1024;
/** Fewer bytes say too little for statistics. */
const JUDGED_BYTES_MIN = 400;

/** Different bytes in writing. A table of numbers with a sign of a unit has twelve. */
const DISTINCT_MIN = 10;
/** Words of any kind for each of their bytes: prose has a fifth. */
const GAPS_SHARE_MIN = 0.03;
/** Bytes of a word with letters beyond ASCII, in the mean. */
const WORD_BYTES_MIN = 2;
/** Pairs of bytes meet again this much more often than if bytes did not depend on each other. In writing, twice as often. */
const PAIRS_RATIO_MIN = 1.25;
/** Letters that are the third of their kind in a row. */
const TRIPLES_SHARE_MAX = 0.02;
/** Letters beyond ASCII between which a digit stands alone. */
const SPLIT_SHARE_MAX = 0.1;
/**
 * Ends of words at small letters, or letters beyond ASCII, whose value is near that of the gap beside them. In pixels and
 * sound all are, because values are passed through; in writing, nearly none is.
 */
const PASSED_SHARE_MAX = 0.5;
const PASSED_STEP = 40;
const ENDS_MIN = 8;
/** Words of one length. In pixels of a constant channel, all gaps are equally far from each other. */
const ONE_LENGTH_SHARE_MAX = 0.6;
const WORDS_MIN = 20;
/** Bytes of words whose letters change their case, or meet digits, as in no language. */
const IRREGULAR_SHARE_MAX = 0.25;
const IRREGULAR = /[a-z][\x80-\xff]+[A-Z]|[A-Z][\x80-\xff]+[A-Z]+[a-z]|[\x80-\xff]\d+[a-z\x80-\xff]/;
const PERIOD_MAX = 1024;
const REGULAR = /^(?:[A-Z\xc0-\xff]?[a-z\xc0-\xff]+|[A-Z\xc0-\xff]+|\d+)$/;
const REGULAR_SHARE_MIN = 0.85;
/** Of bytes 0x80 to 0x9f: signs and rare letters. */
const RARE_SHARE_MAX = 0.1;
/** Bits that a byte's place, modulo the channels of a picture, says of its value. In writing, none. */
const PLACE_BITS_MAX = 0.15;
const PLACE_WINDOW_BYTES = 1024;
/** Neighbours whose values differ by at most this, and the share of them. In writing, a half. */
const NEAR = 10;
const SMOOTHNESS_MAX = 0.7;
const LETTERS_FROM = 0x41;
const CHANNELS = [3, 4];
/** Where such words fill less of the text than this, "à" and "è" may be most of them. */
const FILLED_SHARE_MIN = 0.15;

/**
 * Whether bytes in an unknown character set of one byte, or with stray control characters, look like writing: words with
 * gaps between them, letters that depend on each other. Noise, pixels and samples of sound do not. Only lines with a byte
 * beyond printable ASCII are judged: the others are text for certain.
 */
export function looksLikeWriting(bytes: Uint8Array, letterBytes: 1 | 2 = 1): boolean {
  const judged = doubtfulLines(bytes.subarray(0, JUDGED_BYTES_MAX));
  if (judged.length < JUDGED_BYTES_MIN) return true;
  const period = periodOf(judged);
  if (period !== undefined) return isPhrase(judged.subarray(0, period));
  return (
    hasGaps(judged) &&
    hasLetters(judged) &&
    pairsRatio(judged) >= PAIRS_RATIO_MIN &&
    smoothness(judged) <= SMOOTHNESS_MAX &&
    (letterBytes > 1 || CHANNELS.every((channels) => placeBits(judged, channels) <= PLACE_BITS_MAX))
  );
}

/** After how many bytes they repeat, from the first to the last; undefined for those that do not. */
function periodOf(bytes: Uint8Array): number | undefined {
  const longest = Math.min(PERIOD_MAX, bytes.length / 3);
  for (let period = 1; period <= longest; period++) {
    let at = period;
    while (at < bytes.length && bytes[at] === bytes[at - period]) at++;
    if (at === bytes.length) return period;
  }
  return undefined;
}

/** A line that is repeated is too short for statistics. Nearly all of it must be words as most languages write them. */
function isPhrase(bytes: Uint8Array): boolean {
  const text = latin1Of(bytes);
  const words = text.split(/[\s!-/:-@[-`{-~]+/);
  const length = (some: readonly string[]): number => some.reduce((sum, word) => sum + word.length, 0);
  return (
    /\s/.test(text) &&
    (text.match(/[\x80-\x9f]/g)?.length ?? 0) <= text.length * RARE_SHARE_MAX &&
    length(words.filter((word) => REGULAR.test(word))) >= length(words) * REGULAR_SHARE_MIN
  );
}

function latin1Of(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

/** The lines with a byte that is no printable ASCII, one after the other. */
function doubtfulLines(bytes: Uint8Array): Uint8Array {
  const kept = new Uint8Array(bytes.length + 1);
  let length = 0;
  for (let from = 0; from < bytes.length; ) {
    const newline = bytes.indexOf(0x0a, from);
    const end = newline < 0 ? bytes.length : newline + 1;
    const line = bytes.subarray(from, end);
    if (line.some((byte) => !isGap(byte) && !isPrintable(byte))) {
      kept.set(line, length);
      length += line.length;
    }
    from = end;
  }
  return kept.subarray(0, length);
}

/** Judges the words with a byte that is no printable ASCII. The others may be marks, as in `<p><b>`. */
function hasGaps(bytes: Uint8Array): boolean {
  const lengths = new Map<number, number>();
  const text = latin1Of(bytes);
  let [length, gaps, words, ends, passed, filled, irregular] = [0, 0, 0, 0, 0, 0, 0];
  for (let from = 0; from < bytes.length; ) {
    let end = from;
    let isAscii = true;
    for (; end < bytes.length && !isGap(bytes[end]!); end++) isAscii &&= isPrintable(bytes[end]!);
    length += end - from;
    if (end > from) gaps++;
    if (!isAscii) {
      words++;
      filled += end - from;
      lengths.set(end - from, (lengths.get(end - from) ?? 0) + 1);
      if (IRREGULAR.test(text.slice(from, end))) irregular += end - from;
      for (const [letter, gap] of [
        [bytes[from]!, bytes[from - 1]],
        [bytes[end - 1]!, bytes[end]],
      ] as const) {
        if (letter < 0x61 || gap === undefined) continue;
        ends++;
        if (Math.abs(letter - gap) <= PASSED_STEP) passed++;
      }
    }
    from = end + 1;
  }
  if (gaps < length * GAPS_SHARE_MIN) return false;
  if (ends >= ENDS_MIN && passed > ends * PASSED_SHARE_MAX) return false;
  if (words < WORDS_MIN) return true;
  if (irregular > filled * IRREGULAR_SHARE_MAX) return false;
  if (filled < bytes.length * FILLED_SHARE_MIN) return true;
  return filled >= words * WORD_BYTES_MIN && Math.max(...lengths.values()) <= words * ONE_LENGTH_SHARE_MAX;
}

function hasLetters(bytes: Uint8Array): boolean {
  const distinct = new Set<number>();
  let [letters, triples, beyond, split] = [0, 0, 0, 0];
  for (const [at, byte] of bytes.entries()) {
    distinct.add(byte);
    if (!isLetter(byte)) continue;
    letters++;
    if (byte === bytes[at - 1] && byte === bytes[at - 2]) triples++;
    if (byte < 0x80) continue;
    beyond++;
    if (isDigit(bytes[at + 1]) && (bytes[at + 2] ?? 0) >= 0x80) split++;
  }
  return (
    distinct.size >= DISTINCT_MIN &&
    triples <= letters * TRIPLES_SHARE_MAX &&
    split <= beyond * SPLIT_SHARE_MAX
  );
}

/**
 * How much more often two places hold the same pair of different bytes than if each byte were drawn by itself: the index of
 * coincidence of pairs over that of independent bytes (Friedman, 1922). A run of one byte counts once. About 1 for noise of
 * any distribution.
 */
function pairsRatio(bytes: Uint8Array): number {
  const runs = bytes.filter((byte, at) => byte !== bytes[at - 1]);
  const singles = new Uint32Array(256);
  const pairs = new Uint32Array(256 * 256);
  for (const [at, byte] of runs.entries()) {
    singles[byte]!++;
    if (at > 0) pairs[runs[at - 1]! * 256 + byte]!++;
  }
  let [same, squares, fourths] = [0, 0, 0];
  for (const count of pairs) same += count * (count - 1);
  for (const share of sharesWithRuns(singles)) {
    squares += share ** 2;
    fourths += share ** 4;
  }
  const places = runs.length - 1;
  const independent = (squares ** 2 - fourths) / (1 - squares) ** 2;
  return same / (places * (places - 1)) / independent;
}

const FIT_STEPS = 60;

/** The shares of independent bytes, with each run of one byte counted once: runs of `a` begin with a(1 - a). */
function sharesWithRuns(counts: Uint32Array): number[] {
  const shareOf = (weights: readonly number[]): number[] => {
    const all = weights.reduce((sum, weight) => sum + weight, 0);
    return weights.map((weight) => weight / all);
  };
  const once = shareOf([...counts].filter((count) => count > 0));
  let shares = once;
  for (let step = 0; step < FIT_STEPS && once.length > 1; step++)
    shares = shareOf(once.map((share, at) => share / (1 - shares[at]!)));
  return shares;
}

/** Share of different neighbours, at most one of them a letter, whose values are nearly the same. */
function smoothness(bytes: Uint8Array): number {
  let [near, different] = [0, 0];
  for (let at = 1; at < bytes.length; at++) {
    const step = Math.abs(bytes[at]! - bytes[at - 1]!);
    // Digits and the signs between them are neighbours in ASCII, too.
    if (step === 0 || Math.max(bytes[at]!, bytes[at - 1]!) < LETTERS_FROM) continue;
    different++;
    if (step <= NEAR) near++;
  }
  return near / different;
}

/**
 * The most that a place modulo `channels` says, in any part of the bytes, of a value: a sign, a digit, a capital or
 * small letter, or the upper half of what is beyond ASCII. Mutual information in bits.
 */
function placeBits(bytes: Uint8Array, channels: number): number {
  let most = 0;
  for (let from = 0; from < bytes.length; from += PLACE_WINDOW_BYTES) {
    const part = bytes.subarray(from, from + PLACE_WINDOW_BYTES);
    if (from > 0 && part.length < PLACE_WINDOW_BYTES) break;
    const kinds = new Map<number, number[]>();
    for (const [at, byte] of part.entries()) {
      const kind = kindOf(byte);
      const counts = kinds.get(kind) ?? new Array<number>(channels).fill(0);
      counts[at % channels]!++;
      kinds.set(kind, counts);
    }
    let bits = 0;
    for (const counts of kinds.values()) {
      const all = counts.reduce((sum, count) => sum + count, 0);
      for (const count of counts)
        if (count > 0) bits += (count / part.length) * Math.log2((count * channels) / all);
    }
    most = Math.max(most, bits);
  }
  return most;
}

function kindOf(byte: number): number {
  if (byte >= 0x80) return byte >> 4;
  if (isGap(byte)) return 0;
  if (isDigit(byte)) return 1;
  return byte < 0x60 ? 2 : 3;
}

/** White space and signs of ASCII. */
function isGap(byte: number): boolean {
  if (byte <= 0x20) return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
  return byte <= 0x7e && !isLetter(byte) && !isDigit(byte);
}

function isPrintable(byte: number): boolean {
  return byte >= 0x20 && byte <= 0x7e;
}

/** A letter of ASCII, or any byte beyond it. */
function isLetter(byte: number): boolean {
  const lower = byte | 0x20;
  return byte >= 0x80 || (lower >= 0x61 && lower <= 0x7a);
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}
