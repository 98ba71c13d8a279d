const SEGMENTER = new Intl.Segmenter('en', { granularity: 'word' });

const JOINTS = /[._:·]+|(?<=\p{Ll}{2})(?=\p{Lu})/u;

/**
 * Words of a text and their parts, and whether each is a name, a number or a code: with a digit, with a capital inside a sentence,
 * or part of an address or identifier.
 */
export function* wordsOf(text: string): Generator<{ readonly word: string; readonly named: boolean }> {
  let before = '.';
  for (const { segment, isWordLike } of SEGMENTER.segment(text)) {
    if (isWordLike) {
      const inside = /[\p{L}\p{N},;]\s*$/u.test(before);
      const named =
        segment.length >= 4 && (/\p{N}/u.test(segment) || (inside && /^\p{Lu}\p{Ll}/u.test(segment)));
      yield { word: segment, named };
      const parts = segment.split(JOINTS).filter((part) => part !== '');
      if (parts.length > 1) for (const part of parts) yield { word: part, named: part.length >= 4 };
    }
    before = segment.trim() === '' ? before : segment;
  }
}
