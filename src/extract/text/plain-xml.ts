import type { Block } from '../../domain/document.ts';
import { textReader } from './text-format.ts';
import { walkXml } from './xml.ts';

export const plainXml = textReader({ looksLike: ({ start }) => /^<\?xml\s/.test(start), read: readXml });

/** XML of any kind: the text of each element as a paragraph. The first element called `title` is the title. */
export function readXml(source: string): { title?: string; blocks: Block[] } {
  const lines: string[] = [];
  let title: string | undefined;
  let text = '';
  const flush = (name: string): void => {
    const line = text.replace(/\s+/g, ' ').trim();
    text = '';
    if (line === '') return;
    if (title === undefined && name === 'title' && line.length <= 300) title = line;
    else lines.push(line);
  };
  walkXml(source, {
    open: () => flush(''),
    text: (more) => {
      text += more;
    },
    close: (name) => flush(name),
  });
  const whole = lines.join('\n\n') || (title ?? '');
  return { ...(title !== undefined && { title }), blocks: whole === '' ? [] : [{ text: whole }] };
}
