import { addNotRead, type NotRead } from '@farthing/protocol/file/not-read';
import { readMarkdown } from './markdown.ts';
import type { TextContents } from './text-format.ts';

interface Notebook {
  readonly cells: readonly unknown[];
}

/** A Jupyter notebook: its format's number and its cells. */
export function isNotebook(value: unknown): value is Notebook {
  const { nbformat, cells } = (value ?? {}) as Record<string, unknown>;
  return typeof nbformat === 'number' && Array.isArray(cells);
}

/**
 * The cells one after the other: text with its headings, code, and what it printed. Pictures and widgets that it made are not
 * read.
 */
export function readNotebook({ cells }: Notebook): TextContents {
  let notRead: readonly NotRead[] = [];
  const parts = cells.flatMap((cell): string[] => {
    const { cell_type, source, outputs } = (cell ?? {}) as Record<string, unknown>;
    const words = joined(source);
    if (cell_type === 'markdown') return [words];
    const printed = (Array.isArray(outputs) ? outputs : []).flatMap((output): string[] => {
      const { text, data, evalue } = (output ?? {}) as Record<string, unknown>;
      const shown = (data ?? {}) as Record<string, unknown>;
      const pictures = Object.keys(shown).filter((type) => /^(image|video|audio)\//.test(type)).length;
      if (pictures > 0)
        notRead = addNotRead(notRead, { what: 'pictures', count: pictures, why: 'unsupported' });
      return [joined(text), joined(shown['text/plain']), joined(evalue)].filter((part) => part !== '');
    });
    return [words, ...printed].filter((part) => part.trim() !== '').map(fenced);
  });
  const { title, blocks, notRead: unread = [] } = readMarkdown(parts.join('\n\n'));
  return { title, blocks, notRead: addNotRead(notRead, ...unread) };
}

/** Longer than any fence inside. */
function fenced(text: string): string {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([marks]) => marks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

/** A text, or the list of its lines. */
function joined(value: unknown): string {
  if (typeof value === 'string') return value;
  return Array.isArray(value) ? value.filter((line) => typeof line === 'string').join('') : '';
}
