import { compile, type HtmlToTextOptions } from 'html-to-text';
import type { Block } from '../../domain/document.ts';
import { checkHtml } from './html-limits.ts';
import { Outline, shorten } from './outline.ts';
import { textReader } from './text-format.ts';

export const html = textReader({
  looksLike: ({ start }) => looksLikeHtml(start),
  check: checkHtml,
  read: readHtml,
});

/** Enclose a heading in the converted text. A file cannot contain them: control characters were dropped. */
const HEADING_START = '\u0001';
const HEADING_END = '\u0002';
const HEADING = new RegExp(`${HEADING_START}([1-6])([^${HEADING_START}${HEADING_END}]*)${HEADING_END}`);
/** Marks of a list or a quotation before a heading. */
const MARKS = /^(?:[-*•>|\s]|(?:\d{1,5}|[a-z]|[ivxlcdm]{1,8})\.)*$/i;

/** Elements without content of the page: scripts, styles, controls, navigation. */
const SKIPPED = [
  'script',
  'style',
  'noscript',
  'template',
  'iframe',
  'object',
  'svg',
  'math',
  'canvas',
  'audio',
  'video',
  'select',
  'button',
  'input',
  'textarea',
  'nav',
  'footer',
  'aside',
  'head',
  'dialog',
  '[hidden]',
  '[aria-hidden="true"]',
  '[role="navigation"]',
  '[role="contentinfo"]',
];

/** No page for readers is deeper or longer. */
const LIMITS = {
  maxInputLength: undefined,
  maxDepth: 200,
  maxChildNodes: 200_000,
  maxBaseElements: 1_000,
  ellipsis: '',
};

const OPTIONS: HtmlToTextOptions = {
  wordwrap: false,
  limits: LIMITS,
  selectors: [
    ...SKIPPED.map((selector) => ({ selector, format: 'skip' })),
    { selector: 'a', options: { ignoreHref: true } },
    { selector: 'img', format: 'alternative' },
    { selector: 'table', format: 'rows' },
    { selector: 'hr', format: 'skip' },
    { selector: 'ul', options: { itemPrefix: '- ' } },
    ...[1, 2, 3, 4, 5, 6].map((level) => ({ selector: `h${level}`, format: 'marked', options: { level } })),
  ],
  formatters: {
    marked: (element, walk, builder, options) => {
      builder.openBlock({ leadingLineBreaks: 2 });
      builder.addInline(`${HEADING_START}${options.level}`, { noWordTransform: true });
      walk(element.children, builder);
      builder.addInline(HEADING_END, { noWordTransform: true });
      builder.closeBlock({ trailingLineBreaks: 2 });
    },
    alternative: (element, _walk, builder) => {
      const words = element.attribs?.alt;
      if (words) builder.addInline(shorten(words, 300));
    },
    rows: (element, walk, builder) => {
      builder.openBlock({ leadingLineBreaks: 2 });
      walk(element.children, builder);
      builder.closeBlock({ trailingLineBreaks: 2 });
    },
    row: (element, walk, builder) => {
      builder.openBlock({ leadingLineBreaks: 1 });
      walk(element.children, builder);
      builder.closeBlock({ trailingLineBreaks: 1 });
    },
    cell: (element, walk, builder) => {
      walk(element.children, builder);
      builder.addInline(' | ');
    },
  },
};
OPTIONS.selectors!.push(
  { selector: 'tr', format: 'row' },
  { selector: 'td', format: 'cell' },
  { selector: 'th', format: 'cell' },
);

const convertBody = compile({ ...OPTIONS, baseElements: { selectors: ['body'], returnDomByDefault: true } });
const convertMain = compile({
  ...OPTIONS,
  baseElements: { selectors: ['main', '[role="main"]'], returnDomByDefault: false },
});

/** With less text than this in its main element, a page has its content elsewhere. */
const MAIN_LENGTH_MIN = 200;

/** True for text that is HTML. */
export function looksLikeHtml(text: string): boolean {
  const probe = text
    .slice(0, 8192)
    .replace(/^\ufeff/, '')
    .trimStart();
  if (/^<!doctype\s+html/i.test(probe)) return true;
  const start = probe.replace(/^(<\?xml[^>]{0,500}\?>|<!--[\s\S]*?-->|<!doctype[^>]{0,500}>|\s)+/i, '');
  return (
    /^<(html|head|body)[\s>]/i.test(start) ||
    (/^<(div|p|h[1-6]|article|main|section|table|ul|ol|title|meta)[\s>]/i.test(start) &&
      /<\/[a-z][a-z0-9]*\s*>/i.test(probe))
  );
}

/** The main text of an HTML page in sections, and its title. Nothing is fetched. @throws document_too_large. */
export function readHtml(source: string): { title?: string; blocks: Block[] } {
  checkHtml(source);
  const main = /<main[\s>]|role=["']?main/i.test(source) ? convertMain(source) : '';
  const text = main.length >= MAIN_LENGTH_MIN ? main : convertBody(source);
  const outline = new Outline(titleOf(source));
  for (const paragraph of text.split(/\n{2,}/)) {
    // Text, then again and again a heading's level, its words, and text.
    const parts = paragraph.split(HEADING);
    for (let at = 0; at < parts.length; at += 3) {
      if (at > 0) outline.heading(Number(parts[at - 2]), parts[at - 1]!);
      const isLast = at + 1 === parts.length;
      outline.paragraph(tidied(isLast ? parts[at]! : withoutLastMarks(parts[at]!)));
    }
  }
  return outline.finish();
}

function withoutLastMarks(text: string): string {
  const line = text.lastIndexOf('\n') + 1;
  return MARKS.test(text.slice(line)) ? text.slice(0, line) : text;
}

/** Drops the bars of empty cells, and spaces at the ends of lines. */
function tidied(text: string): string {
  return (
    text
      // Tried only at the start of a run: from each of its places, the time would be the square of its length.
      .replace(/(?<! \|)(?: \|)+ *$/gm, '')
      .replace(/(?<![ \t])[ \t]+\n/g, '\n')
  );
}

const convertTitle = compile({
  wordwrap: false,
  baseElements: { selectors: ['span'] },
  selectors: [{ selector: 'a', options: { ignoreHref: true } }],
});

function titleOf(source: string): string | undefined {
  const match = /<title[^>]{0,200}>([^<]{0,2000})<\/title/i.exec(source.slice(0, 512 * 1024));
  // The converter decodes the entities.
  const title = match ? shorten(convertTitle(`<span>${match[1]}</span>`), 300) : '';
  return title === '' ? undefined : title;
}
