const SEGMENTER = new Intl.Segmenter('en', { granularity: 'word' });

/** Words of a text, and whether each is a name, a number or a code: with a digit, or with a capital inside a sentence. */
export function* wordsOf(text: string): Generator<{ readonly word: string; readonly named: boolean }> {
  let before = '.';
  for (const { segment, isWordLike } of SEGMENTER.segment(text)) {
    if (isWordLike) {
      const inside = /[\p{L}\p{N},;]\s*$/u.test(before);
      const named =
        segment.length >= 4 && (/\p{N}/u.test(segment) || (inside && /^\p{Lu}\p{Ll}/u.test(segment)));
      yield { word: segment, named };
    }
    before = segment.trim() === '' ? before : segment;
  }
}
