/** A snippet's length in characters: enough to see why a passage was found. */
const SNIPPET_LENGTH = 320;
/** Words of a query that are looked for, and places of them that are told. */
const QUERY_WORDS_MAX = 64;
const HIGHLIGHTS_MAX = 64;
/** A word is also found with another ending: at least so many letters are the same, at most so many are not. */
const SAME_LETTERS_MIN = 4;
const OTHER_LETTERS_MAX = 3;
/** Text before the first word that was found. */
const LEAD_LENGTH = 60;

export interface Snippet {
  readonly snippet: string;
  /** Where words of the query stand in the snippet, in UTF-16 units, in ascending order. */
  readonly highlights: readonly (readonly [start: number, end: number])[];
}

interface Word {
  readonly text: string;
  readonly at: number;
}

/** The part of a passage that holds most of the query's words, and where they stand in it. */
export function snippetOf(passage: string, query: string | undefined): Snippet {
  const asked = query === undefined ? undefined : new AskedWords(query);
  const found = (asked ? wordsOf(passage) : []).flatMap(({ text, at }) => {
    const index = asked!.indexOf(text);
    return index < 0 ? [] : [{ index, at, end: at + text.length }];
  });
  const start = passage.length <= SNIPPET_LENGTH ? 0 : startOf(passage, found);
  const isCut = start + SNIPPET_LENGTH < passage.length;
  const body = passage.slice(start, cutBefore(passage, start + SNIPPET_LENGTH)).trimEnd();
  const lead = start > 0 ? '…' : '';
  const shift = lead.length - start;
  return {
    snippet: `${lead}${body}${isCut ? '…' : ''}`,
    highlights: found
      .filter(({ at, end }) => at >= start && end <= start + body.length)
      .slice(0, HIGHLIGHTS_MAX)
      .map(({ at, end }) => [at + shift, end + shift] as const),
  };
}

/** Letters and digits in a row; each character of a script without spaces is a word. */
const WORD = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{N}\p{M}]+/gu;

/** Words in small letters. */
function wordsOf(text: string): Word[] {
  const small = text.toLowerCase();
  // A few capitals change their length: then the letters as they are, for offsets are those of the text.
  const same = small.length === text.length ? small : text;
  return Array.from(same.matchAll(WORD), ({ 0: word, index }) => ({ text: word, at: index }));
}

/** The words of a query, by how they begin. */
class AskedWords {
  readonly #byStart = new Map<string, { text: string; index: number }[]>();

  constructor(query: string) {
    const words = [...new Set(wordsOf(query).map(({ text }) => text))];
    for (const [index, text] of words.slice(0, QUERY_WORDS_MAX).entries()) {
      const start = text.slice(0, SAME_LETTERS_MIN);
      this.#byStart.set(start, [...(this.#byStart.get(start) ?? []), { text, index }]);
    }
  }

  /** Number of the asked word that this is, maybe with another ending; −1 for none. */
  indexOf(word: string): number {
    const alike = this.#byStart.get(word.slice(0, SAME_LETTERS_MIN));
    return alike?.find(({ text }) => isSameWord(text, word))?.index ?? -1;
  }
}

function isSameWord(a: string, b: string): boolean {
  if (a === b) return true;
  const most = Math.min(a.length, b.length);
  let same = 0;
  while (same < most && a[same] === b[same]) same++;
  return same >= SAME_LETTERS_MIN && Math.max(a.length, b.length) - same <= OTHER_LETTERS_MAX;
}

/** Where the window with the most different words begins: a little before its first, at a word's start. */
function startOf(passage: string, found: readonly { index: number; at: number; end: number }[]): number {
  let best = { words: 0, at: 0 };
  for (const [first, { at }] of found.entries()) {
    const inside = new Set<number>();
    for (
      let next = first;
      next < found.length && found[next]!.end <= at + SNIPPET_LENGTH - LEAD_LENGTH;
      next++
    )
      inside.add(found[next]!.index);
    if (inside.size > best.words) best = { words: inside.size, at };
  }
  if (best.at <= LEAD_LENGTH) return 0;
  const latest = passage.length - SNIPPET_LENGTH;
  const wanted = Math.min(best.at - LEAD_LENGTH, latest);
  const space = passage.slice(wanted, best.at).search(/\s\S/);
  return space < 0 ? cutBefore(passage, Math.min(best.at, wanted)) : wanted + space + 1;
}

/** Never between the two halves of a character. */
function cutBefore(text: string, at: number): number {
  const code = text.charCodeAt(at - 1);
  return code >= 0xd800 && code < 0xdc00 ? at - 1 : at;
}
