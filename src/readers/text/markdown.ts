import { addNotRead, type NotRead } from '@farthing/protocol/file/not-read';
import { readHtml } from './html.ts';
import { Links } from './links.ts';
import { Outline } from './outline.ts';
import { type TextContents, textReader } from './text-format.ts';

export const markdown = textReader({
  looksLike: ({ text, name }) => looksLikeMarkdown(text, name),
  read: readMarkdown,
});

/** Fields in YAML or TOML before the text, as static site generators have them. */
const FRONT_MATTER = /^(---|\+\+\+)[ \t]*\n([\s\S]{0,20000}?)\n\1[ \t]*(?:\n|$)/;
const ATX = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/;
/** Marks that may end a heading. Like all patterns here it is tried only at the start of a run, for linear time. */
const ATX_END = /(?:^|(?<![ \t])[ \t]+)#+[ \t]*$/;
const SETEXT = /^ {0,3}(=+|-{2,})[ \t]*$/;
/** Marks in longer lines stay: the patterns that find them take time for each mark and the letters behind it. */
const MARKED_LINE_MAX = 4096;
/** HTML that begins a paragraph (CommonMark, 4.6). */
const HTML_BLOCK =
  /^ {0,3}<\/?(?:address|article|aside|blockquote|center|details|dialog|div|dl|fieldset|figure|footer|form|h[1-6]|header|main|menu|nav|ol|p|section|summary|table|tbody|td|tfoot|th|thead|tr|ul)[\s/>]/i;
/** A picture that is written out in letters. */
const DATA_LINK = /!?\[([^\]\n]{0,500})\]\(\s*<?data:[^)\s]*\)/g;
const FENCE = /^[ \t]*(```+|~~~+)/;
/** Where a link leads, and perhaps a title (CommonMark, 4.7). What has more words, or the mark of a footnote, is text. */
const LINK_DEFINITION =
  /^ {0,3}\[(?!\^)([^\]\n]{1,200})\]:[ \t]*(<[^<>\n]{0,2000}>|\S{1,2000})(?:[ \t]+(?:"[^"\n]{0,300}"|'[^'\n]{0,300}'|\([^()\n]{0,300}\)))?[ \t]*$/;

/** True for text with enough marks of Markdown, or a name that says so. */
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
  const isHeaded = FRONT_MATTER.test(probe);
  const signs =
    Number(headings > 0) +
    Number(links) +
    Number(fences) +
    Number(lists) +
    Number(emphasis) +
    Number(isHeaded);
  const named = name !== undefined && /\.(md|markdown|mkd)$/i.test(name);
  return named || opensWithTitle || (headings > 0 && signs >= 2);
}

/**
 * Markdown in sections. The title is the front matter's or the first heading; the other fields of the front matter come first.
 * Marks are dropped; where links lead is a section at the end. HTML between paragraphs is read as a page is.
 */
export function readMarkdown(source: string): TextContents {
  const { title, fields, body } = frontMatter(source);
  const outline = new Outline(title);
  outline.paragraph(fields);
  let notRead: readonly NotRead[] = [];
  links = new Links();
  let paragraph: string[] = [];
  let fence: string | undefined;
  const flush = (): void => {
    const text = paragraph.join('\n');
    paragraph = [];
    if (fence !== undefined) outline.paragraph(text);
    else if (HTML_BLOCK.test(text)) {
      const page = readHtml(`<body>${text}`);
      for (const block of page.blocks) outline.paragraph(block.text);
      notRead = addNotRead(notRead, ...(page.notRead ?? []));
    } else {
      const data = text.match(DATA_LINK)?.length ?? 0;
      if (data > 0) notRead = addNotRead(notRead, { what: 'pictures', count: data, why: 'unsupported' });
      outline.paragraph(withoutMarks(text.replace(DATA_LINK, '$1')));
    }
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
  const { blocks, ...rest } = outline.finish();
  return { ...rest, blocks: [...blocks, ...links.blocks(blocks)], notRead };
}

/** Of the text that is being read. */
let links = new Links();

/** Its fields as lines, without the title. Values that are lists keep their marks. */
function frontMatter(source: string): { title?: string; fields: string; body: string } {
  const match = FRONT_MATTER.exec(source);
  if (!match) return { fields: '', body: source };
  const title = /^title[ \t]*[:=][ \t]*(["']?)(.+?)\1[ \t]*$/m.exec(match[2]!)?.[2];
  const fields = match[2]!.replace(/^title[ \t]*[:=].*\n?/m, '');
  return { title, fields, body: source.slice(match[0].length) };
}

/** Drops markup: targets of links and pictures, emphasis, marks of code and quotations, HTML tags. */
function withoutMarks(text: string): string {
  return withoutComments(text)
    .split('\n')
    .map((line) => (line.length <= MARKED_LINE_MAX ? lineWithoutMarks(line) : line))
    .join('\n');
}

/** Code between marks of one length is text: no other mark counts in it. */
const CODE = /(?<!`)(`{1,5})(?!`)([^\n]{1,500}?)(?<!`)\1(?!`)/g;

function lineWithoutMarks(line: string): string {
  let plain = '';
  let at = 0;
  for (const match of line.matchAll(CODE)) {
    plain += wordsWithoutMarks(line.slice(at, match.index)) + match[2]!;
    at = match.index + match[0].length;
  }
  return (plain + wordsWithoutMarks(line.slice(at))).replace(/^ {0,3}(?:> ?)+/, '');
}

function wordsWithoutMarks(line: string): string {
  return line
    .replace(
      /(!?)\[([^\]\n]{0,500})\](?:\(<?([^()\s>]{0,2000})>?(?:[ \t]+"[^"\n]{0,300}")?\)|\[[^\]\n]{0,200}\])/g,
      (_all, picture: string, words: string, target?: string) => {
        if (picture === '' && target) links.add(words.replace(/[*_`]/g, ''), target);
        return words;
      },
    )
    .replace(LINK_DEFINITION, (_all, words: string, target: string) => {
      links.add(words, target.replace(/^<|>$/g, ''));
      return '';
    })
    .replace(/<([a-zA-Z][a-zA-Z\d+.-]{1,31}:[^\s<>]{1,2000}|[^\s<>@]{1,200}@[^\s<>@]{1,200})>/g, '$1')
    .replace(/<\/?[a-zA-Z][^<>\n]{0,300}>/g, '')
    .replace(/(\*\*|__)(?=\S)([^*_\n]{1,500}?\S?)\1/g, '$2')
    .replace(/(?<![\p{L}\d*])\*(?=\S)([^*\n]{1,500}?)\*(?![\p{L}\d*])/gu, '$1');
}

/** Searches up to the last end of a comment only: otherwise each open comment would search to the end of the text. */
function withoutComments(text: string): string {
  const end = text.lastIndexOf('-->') + '-->'.length;
  return text.slice(0, end).replace(/<!--[\s\S]*?-->/g, '') + text.slice(end);
}
