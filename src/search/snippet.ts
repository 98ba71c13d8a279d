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

/** A word of the query, by its number, and its place in a text. */
interface FoundWord {
  readonly index: number;
  readonly at: number;
  readonly end: number;
}

/** The part of a passage that holds most of the query's words, and where they stand in it. */
export function snippetOf(passage: string, query: string | undefined): Snippet {
  const asked = query === undefined ? undefined : new AskedWords(query);
  const found = asked?.foundIn(passage) ?? [];
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
const LETTER = /^[\p{L}\p{N}\p{M}]$/u;
const UNSPACED = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
const ASCII_END = 128;
/** Whether each ASCII character is a letter or a digit. */
const IS_ASCII_LETTER = Uint8Array.from({ length: ASCII_END }, (_, code) =>
  Number(LETTER.test(String.fromCharCode(code))),
);

/** In small letters; but for the few capitals whose length would change: offsets are those of the text. */
function small(text: string): string {
  const lower = text.toLowerCase();
  return lower.length === text.length ? lower : text;
}

/** How many UTF-16 units of a word's character stand at a place; 0 for what is no part of a word. */
function letterAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code < ASCII_END) return IS_ASCII_LETTER[code]!;
  if (Number.isNaN(code)) return 0;
  const character = String.fromCodePoint(text.codePointAt(at)!);
  return LETTER.test(character) ? character.length : 0;
}

function isLetterBefore(text: string, at: number): boolean {
  if (at === 0) return false;
  const code = text.charCodeAt(at - 1);
  if (code < ASCII_END) return IS_ASCII_LETTER[code] === 1;
  const isLow = code >= 0xdc00 && code < 0xe000 && at > 1;
  return letterAt(text, isLow ? at - 2 : at - 1) > 0;
}

/** The words of a query, by how they begin. */
class AskedWords {
  readonly #byStart = new Map<string, { text: string; index: number }[]>();

  constructor(query: string) {
    const words = [...new Set(Array.from(small(query).matchAll(WORD), ([word]) => word))];
    for (const [index, text] of words.slice(0, QUERY_WORDS_MAX).entries()) {
      const start = text.slice(0, SAME_LETTERS_MIN);
      this.#byStart.set(start, [...(this.#byStart.get(start) ?? []), { text, index }]);
    }
  }

  /** Where they stand in a text, maybe with another ending, in ascending order. */
  foundIn(passage: string): FoundWord[] {
    const text = small(passage);
    const found: FoundWord[] = [];
    // To look for the beginnings of the few asked words is far quicker than to take a whole passage apart.
    for (const [start, asked] of this.#byStart) {
      const alone = UNSPACED.test(start);
      for (let at = text.indexOf(start); at >= 0; at = text.indexOf(start, at + start.length)) {
        if (!alone && isLetterBefore(text, at)) continue;
        const end = alone ? at + start.length : endOfWord(text, at);
        const word = text.slice(at, end);
        if (word.slice(0, SAME_LETTERS_MIN) !== start) continue;
        const index = asked.find((one) => isSameWord(one.text, word))?.index;
        if (index !== undefined) found.push({ index, at, end });
      }
    }
    return found.sort((a, b) => a.at - b.at);
  }
}

function endOfWord(text: string, at: number): number {
  let end = at;
  for (let length = letterAt(text, end); length > 0; length = letterAt(text, end)) end += length;
  return end;
}

function isSameWord(a: string, b: string): boolean {
  if (a === b) return true;
  const most = Math.min(a.length, b.length);
  let same = 0;
  while (same < most && a[same] === b[same]) same++;
  return same >= SAME_LETTERS_MIN && Math.max(a.length, b.length) - same <= OTHER_LETTERS_MAX;
}

/** Where the window with the most different words begins: a little before its first, at a word's start. */
function startOf(passage: string, found: readonly FoundWord[]): number {
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
