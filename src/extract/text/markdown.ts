import type { Block } from '../../domain/document.ts';
import { Outline } from './outline.ts';
import { textReader } from './text-format.ts';

export const markdown = textReader({
  looksLike: ({ text, name }) => looksLikeMarkdown(text, name),
  read: readMarkdown,
});

const ATX = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/;
/** Marks that may end a heading. Like all patterns here it is tried only at the start of a run, for linear time. */
const ATX_END = /(?:^|(?<![ \t])[ \t]+)#+[ \t]*$/;
const SETEXT = /^ {0,3}(=+|-{2,})[ \t]*$/;
/** Marks in longer lines stay: the patterns that find them take time for each mark and the letters behind it. */
const MARKED_LINE_MAX = 4096;
const FENCE = /^ {0,3}(```+|~~~+)/;

/** True for text with enough marks of Markdown. Fewer suffice where the file's name says Markdown. */
export function looksLikeMarkdown(text: string, name: string | undefined): boolean {
  const probe = text.slice(0, 64 * 1024);
  if (probe.startsWith('#!')) return false;
  const headings =
    (probe.match(/^#{1,6} \S.*\n(?=\s*\n|\s*$)/gm)?.length ?? 0) +
    (probe.match(/^\S.*\n(=+|-{3,})\n/gm)?.length ?? 0);
  const links = /\[[^\]\n]{1,200}\]\([^)\s]{1,500}\)/.test(probe);
  const fences = /^(```|~~~)/m.test(probe);
  const lists = (probe.match(/^[-*+] \S/gm)?.length ?? 0) >= 2;
  const emphasis = /(\*\*|__)\S.{0,200}\S\1/.test(probe);
  const opensWithTitle = /^\s*# \S.*\n\s*\n/.test(probe);
  const signs = Number(headings > 0) + Number(links) + Number(fences) + Number(lists) + Number(emphasis);
  const named = name !== undefined && /\.(md|markdown|mkd)$/i.test(name);
  return named ? signs >= 1 || headings > 0 : opensWithTitle || (headings > 0 && signs >= 2);
}

/** Markdown in sections. The title is the front matter's or the first heading; marks and link targets are dropped. */
export function readMarkdown(source: string): { title?: string; blocks: Block[] } {
  const { title, body } = frontMatter(source);
  const outline = new Outline(title);
  let paragraph: string[] = [];
  let fence: string | undefined;
  const flush = (): void => {
    outline.paragraph(fence === undefined ? withoutMarks(paragraph.join('\n')) : paragraph.join('\n'));
    paragraph = [];
  };
  for (const line of body.split('\n')) {
    const mark = FENCE.exec(line)?.[1];
    if (fence !== undefined) {
      if (mark?.startsWith(fence)) {
        flush();
        fence = undefined;
      } else paragraph.push(line);
      continue;
    }
    if (mark) {
      flush();
      fence = mark;
      continue;
    }
    const heading = ATX.exec(line);
    if (heading) {
      flush();
      outline.heading(heading[1]!.length, withoutMarks((heading[2] ?? '').replace(ATX_END, '')));
      continue;
    }
    const underline = SETEXT.exec(line)?.[1];
    if (underline && paragraph.length === 1) {
      const text = paragraph[0]!;
      paragraph = [];
      outline.heading(underline.startsWith('=') ? 1 : 2, withoutMarks(text));
      continue;
    }
    if (line.trim() === '') flush();
    else paragraph.push(line);
  }
  flush();
  return outline.finish();
}

function frontMatter(source: string): { title?: string; body: string } {
  const match = /^---[ \t]*\n([\s\S]{0,20000}?)\n---[ \t]*(?:\n|$)/.exec(source);
  if (!match) return { body: source };
  const title = /^title:[ \t]*(["']?)(.+?)\1[ \t]*$/m.exec(match[1]!)?.[2];
  return { title, body: source.slice(match[0].length) };
}

/** Drops markup: targets of links and pictures, emphasis, marks of code and quotations, HTML tags. */
function withoutMarks(text: string): string {
  return withoutComments(text)
    .split('\n')
    .map((line) => (line.length <= MARKED_LINE_MAX ? lineWithoutMarks(line) : line))
    .join('\n');
}

function lineWithoutMarks(line: string): string {
  return line
    .replace(
      /!?\[([^\]\n]{0,500})\](?:\([^()\s]{0,2000}(?:[ \t]+"[^"\n]{0,300}")?\)|\[[^\]\n]{0,200}\])/g,
      '$1',
    )
    .replace(/^[ \t]*\[[^\]\n]{1,200}\]:[ \t]*\S+.*$/, '')
    .replace(/<\/?[a-zA-Z][^<>\n]{0,300}>/g, '')
    .replace(/(\*\*|__)(?=\S)([^*_\n]{1,500}?\S?)\1/g, '$2')
    .replace(/(?<![\p{L}\d*])\*(?=\S)([^*\n]{1,500}?)\*(?![\p{L}\d*])/gu, '$1')
    .replace(/(?<!`)`+([^`\n]{1,500})`+/g, '$1')
    .replace(/^ {0,3}(?:> ?)+/, '');
}

/** Searches up to the last end of a comment only: otherwise each open comment would search to the end of the text. */
function withoutComments(text: string): string {
  const end = text.lastIndexOf('-->') + '-->'.length;
  return text.slice(0, end).replace(/<!--[\s\S]*?-->/g, '') + text.slice(end);
}
