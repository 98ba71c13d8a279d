/** A text of about a query's length: warms a model up, and compares providers. */
export const PROBE_TEXT = 'How does a warm current change the weather over an island in winter?';
const PROBE_WORDS = PROBE_TEXT.split(' ').length;

/** As many texts of at least that many tokens. */
export function longTexts(count: number, tokens: number): string[] {
  return Array<string>(count).fill(`${PROBE_TEXT} `.repeat(Math.ceil(tokens / PROBE_WORDS)));
}
