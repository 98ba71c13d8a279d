import type { Hit } from '@farthing/client';

/** A passage with the marks that the server set in it. */
export interface Passage {
  readonly before: string;
  readonly text: string;
  readonly after: string;
  /** Starts and ends in `text`, ascending. */
  readonly marks: Hit['highlights'];
}

/** Characters of the file shown around a passage. */
const AROUND = 1500;

/** The passage of a hit within its file's text; undefined when the text differs from what was read of it. */
export function passageIn(content: string, { snippet = '', highlights = [] }: Hit): Passage | undefined {
  const lead = snippet.startsWith('…') ? 1 : 0;
  const text = snippet.slice(lead).replace(/…$/, '');
  const at = text === '' ? -1 : content.indexOf(text);
  if (at < 0) return undefined;
  const end = at + text.length;
  return {
    before: content.slice(Math.max(0, at - AROUND), at),
    text,
    after: content.slice(end, end + AROUND),
    marks: highlights.map(([start, stop]) => [start - lead, stop - lead]),
  };
}
