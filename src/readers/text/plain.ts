import type { Block } from '@farthing/protocol/document';
import { withoutData } from './encoded-data.ts';
import { shorten } from './outline.ts';
import { type TextContents, textReader } from './text-format.ts';

/** A longer first line is text. */
const TITLE_LENGTH_MAX = 250;

/** Any text. The last format in the table: all others are tried before it. */
export const plain = textReader({ looksLike: () => true, read: readPlain });

/**
 * Plain text. A short first line is the title where an empty line and more text follow. It is not repeated in the text,
 * because every passage carries the title.
 */
export function readPlain(source: string): TextContents {
  const { text, count } = withoutData(source);
  const notRead =
    count > 0 ? { notRead: [{ what: 'encoded_data', count, why: 'unsupported' } as const] } : {};
  return { ...titled(text), ...notRead };
}

function titled(text: string): { title?: string; blocks: Block[] } {
  const start = text.search(/\S/);
  if (start < 0) return { blocks: [] };
  const lineEnd = text.indexOf('\n', start);
  const first = lineEnd < 0 ? text.slice(start) : text.slice(start, lineEnd);
  const rest = lineEnd < 0 ? '' : text.slice(lineEnd + 1);
  const isTitle =
    first.trim().length <= TITLE_LENGTH_MAX &&
    /^[ \t]*\n/.test(rest) &&
    /\S/.test(rest) &&
    /\p{L}/u.test(first);
  if (!isTitle) return { blocks: [{ text: text.trim() }] };
  return { title: shorten(first, TITLE_LENGTH_MAX), blocks: [{ text: rest.trim() }] };
}
