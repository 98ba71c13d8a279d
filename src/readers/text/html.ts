import {
  addNotRead,
  type NotRead,
  type UnreadPart,
  type UnreadReason,
} from '@farthing/protocol/file/not-read';
import { compile, type FormatCallback, type HtmlToTextOptions } from 'html-to-text';
import { checkHtml, NESTING_MAX } from './html-limits.ts';
import { Outline, oneLine } from './outline.ts';
import { type TextContents, textReader } from './text-format.ts';

export const html = textReader({
  looksLike: ({ start }) => looksLikeHtml(start),
  check: checkHtml,
  read: readHtml,
});

/** Enclose a heading in the converted text. A file cannot contain them: control characters were dropped. */
const HEADING_START = '\u0001';
const HEADING_END = '\u0002';
/** Readings above words, and raised letters, up to their end. */
const READING_START = '\u0003';
const RAISED_START = '\u0004';
const ASIDE_END = '\u0005';
const INSIDE = `([^${READING_START}-${ASIDE_END}]*)`;
const READING = new RegExp(`${READING_START}${INSIDE}${ASIDE_END}`, 'g');
const RAISED = new RegExp(`([\\p{L}\\p{N}]{0,30})${RAISED_START}${INSIDE}${ASIDE_END}`, 'gu');
const HEADING = new RegExp(`${HEADING_START}([1-6])([^${HEADING_START}${HEADING_END}]*)${HEADING_END}`);
/** Marks of a list or a quotation before a heading. */
const MARKS = /^(?:[-*•>|\s]|(?:\d{1,5}|[a-z]|[ivxlcdm]{1,8})\.)*$/i;

/** Elements whose content is never shown, or only if something else fails. */
const UNSHOWN = [
  'script',
  'style',
  'noscript',
  'template',
  'iframe',
  'object',
  'canvas',
  'audio',
  'video',
  'head',
  'datalist',
  'rp',
  'annotation',
  'annotation-xml',
];
/** What a page hides from its readers. It may speak to machines alone. */
const HIDDEN = [
  '[hidden]',
  '[aria-hidden="true"]',
  'dialog',
  ...['display:none', 'display: none', 'visibility:hidden', 'visibility: hidden'].map(
    (style) => `[style*="${style}" i]`,
  ),
];
const NAVIGATION = ['nav', '[role="navigation"]'];
/** Blocks of the rendering section of the HTML standard (15.3.2 to 15.3.13) that the converter takes for words of a line. */
const BLOCKS = [
  'address',
  'aside',
  'button',
  'caption',
  'center',
  'dd',
  'details',
  'dir',
  'dl',
  'dt',
  'fieldset',
  'figcaption',
  'figure',
  'hgroup',
  'label',
  'legend',
  'menu',
  'optgroup',
  'option',
  'search',
  'summary',
  'textarea',
];

/** What is deeper or wider was refused before (html-limits.ts). */
const LIMITS = {
  maxInputLength: undefined,
  maxDepth: NESTING_MAX + 20,
  maxChildNodes: undefined,
  maxBaseElements: undefined,
  ellipsis: '',
};

/** What a page was not read of, while it is converted: the converter has no place for it. */
let unread: NotRead[] = [];

function leftOut(what: UnreadPart, why: UnreadReason): FormatCallback {
  return (element) => {
    if (wordsOf(element).trim() !== '') unread.push({ what, count: 1, why });
  };
}

interface Node {
  readonly name?: string;
  readonly type?: string;
  readonly data?: string;
  readonly children?: readonly Node[];
}

/** The text in an element, whatever it is for. */
function wordsOf(node: Node): string {
  if (node.type === 'text') return node.data ?? '';
  if (node.type === 'script' || node.type === 'style') return '';
  return (node.children ?? []).map(wordsOf).join(' ');
}

/** The words that a drawing shows. */
function drawnWords({ name, children = [] }: Node): readonly string[] {
  return children.flatMap((child) =>
    child.name === 'text' || (name === 'foreignobject' && child.type === 'text')
      ? [wordsOf(child)]
      : drawnWords(child),
  );
}

/** Formulas' symbols stand apart, so that each is a word. */
function formulaWords(node: Node): string {
  if (node.name === 'annotation' || node.name === 'annotation-xml') return '';
  if (node.type === 'text') return node.data ?? '';
  return (node.children ?? []).map(formulaWords).join(' ');
}

function spaced(name: string): FormatCallback {
  return (element, walk, builder) => {
    builder.addInline(name, { noWordTransform: true });
    walk(element.children, builder);
    builder.addInline(ASIDE_END, { noWordTransform: true });
  };
}

const OPTIONS: HtmlToTextOptions = {
  wordwrap: false,
  limits: LIMITS,
  selectors: [
    ...BLOCKS.map((selector) => ({ selector, format: 'line' })),
    ...UNSHOWN.map((selector) => ({ selector, format: 'skip' })),
    ...NAVIGATION.map((selector) => ({ selector, format: 'navigation' })),
    ...HIDDEN.map((selector) => ({ selector, format: 'hidden' })),
    { selector: 'a', options: { ignoreHref: true } },
    { selector: 'img', format: 'alternative' },
    { selector: 'input', format: 'filled' },
    { selector: 'math', format: 'formula' },
    { selector: 'svg', format: 'drawing' },
    { selector: 'rt', format: 'reading' },
    { selector: 'rtc', format: 'reading' },
    { selector: 'sup', format: 'raised' },
    ...['a[role="doc-noteref"]', 'a[epub\\:type="noteref"]'].map((selector) => ({
      selector,
      format: 'noteMark',
    })),
    { selector: 'table', format: 'rows' },
    { selector: 'tr', format: 'line' },
    { selector: 'td', format: 'cell' },
    { selector: 'th', format: 'cell' },
    { selector: 'hr', format: 'skip' },
    { selector: 'ul', options: { itemPrefix: '- ' } },
    ...[1, 2, 3, 4, 5, 6].map((level) => ({ selector: `h${level}`, format: 'marked', options: { level } })),
  ],
  formatters: {
    navigation: leftOut('navigation', 'left_out'),
    hidden: leftOut('hidden_text', 'hidden'),
    marked: (element, walk, builder, options) => {
      builder.openBlock({ leadingLineBreaks: 2 });
      builder.addInline(`${HEADING_START}${options.level}`, { noWordTransform: true });
      walk(element.children, builder);
      builder.addInline(HEADING_END, { noWordTransform: true });
      builder.closeBlock({ trailingLineBreaks: 2 });
    },
    alternative: (element, _walk, builder) => {
      const words = element.attribs?.alt;
      if (words) builder.addInline(` ${oneLine(words)} `);
      if (/^\s*data:/i.test(element.attribs?.src ?? ''))
        unread.push({ what: 'pictures', count: 1, why: 'unsupported' });
    },
    filled: (element, _walk, builder) => {
      const { type = 'text', value, placeholder } = element.attribs ?? {};
      if (/^(hidden|password|checkbox|radio|image|color|range)$/i.test(type)) return;
      builder.addInline(` ${oneLine(value || placeholder || '')} `);
    },
    formula: (element, _walk, builder) => builder.addInline(` ${formulaWords(element)} `),
    drawing: (element, _walk, builder) => builder.addInline(` ${drawnWords(element).join(' ')} `),
    reading: spaced(READING_START),
    raised: spaced(RAISED_START),
    noteMark: (element, walk, builder) => {
      builder.addInline(' [', { noWordTransform: true });
      walk(element.children, builder);
      builder.addInline(']', { noWordTransform: true });
    },
    rows: (element, walk, builder) => {
      builder.openBlock({ leadingLineBreaks: 2 });
      walk(element.children, builder);
      builder.closeBlock({ trailingLineBreaks: 2 });
    },
    line: (element, walk, builder) => {
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

const convert = compile({ ...OPTIONS, baseElements: { selectors: ['body'], returnDomByDefault: true } });
/** For marked-up text that is no HTML, or no longer XML: each element is a line. */
const convertUnknown = compile({
  ...OPTIONS,
  selectors: [{ selector: '*', format: 'line' }, ...OPTIONS.selectors!],
});

/** True for text that is HTML. */
export function looksLikeHtml(text: string): boolean {
  const probe = text
    .slice(0, 8192)
    .replace(/^\ufeff/, '')
    .trimStart();
  if (/^<!doctype\s+html/i.test(probe)) return true;
  // A document type that is not HTML's, as of a scientific article.
  const declared = probe.replace(/^(?:<\?xml[^>]{0,500}\?>|<!--[\s\S]*?-->|\s)+/i, '');
  if (/^<!doctype\s+(?!html)/i.test(declared)) return false;
  const start = probe.replace(/^(<\?xml[^>]{0,500}\?>|<!--[\s\S]*?-->|<!doctype[^>]{0,500}>|\s)+/i, '');
  return (
    /^<(html|head|body)[\s>]/i.test(start) ||
    (/^<(div|p|h[1-6]|article|main|section|table|ul|ol|title|meta)[\s>]/i.test(start) &&
      /<\/[a-z][a-z0-9]*\s*>/i.test(probe))
  );
}

/** The text of an HTML page in sections, and its title. Nothing is fetched. @throws document_too_large. */
export function readHtml(source: string): TextContents {
  return sectionsOf(source, convert);
}

/** Text with tags of any kind, damaged or not: each element is a line of its own. @throws document_too_large. */
export function readTags(source: string): TextContents {
  return sectionsOf(source, convertUnknown);
}

function sectionsOf(source: string, convertPage: (html: string) => string): TextContents {
  checkHtml(source);
  unread = [];
  const text = convertPage(source);
  const notRead = addNotRead([], ...unread);
  const outline = new Outline(titleOf(source));
  for (const paragraph of text.split(/\n{2,}/)) {
    // Text, then again and again a heading's level, its words, and text.
    const parts = withReadingsApart(withRaised(paragraph)).split(HEADING);
    for (let at = 0; at < parts.length; at += 3) {
      if (at > 0) outline.heading(Number(parts[at - 2]), parts[at - 1]!);
      const isLast = at + 1 === parts.length;
      outline.paragraph(tidied(isLast ? parts[at]! : withoutLastMarks(parts[at]!)));
    }
  }
  return { ...outline.finish(), notRead };
}

/** Readings above the words (ruby) follow the paragraph: they would tear its words apart. */
function withReadingsApart(paragraph: string): string {
  const readings = Array.from(paragraph.matchAll(READING), ([, words]) => words!.trim());
  if (readings.length === 0) return paragraph;
  return `${paragraph.replace(READING, '')} (${readings.join('')})`;
}

/** m² is a word; a mark of a note behind a word is not a part of it, and 10⁶ is not 106. */
function withRaised(paragraph: string): string {
  return paragraph.replace(RAISED, (_all, before: string, raised: string) => {
    const mark = raised.trim();
    if (mark === '') return before;
    if (/\d$/.test(before)) return `${before}^${mark}`;
    const isUnit = /^[-−]?[1-9]$/.test(mark) && before.length > 0 && before.length <= 2;
    return isUnit || (before !== '' && /^\p{L}/u.test(mark)) ? before + mark : `${before} ${mark}`;
  });
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
  const match = /<title[^>]{0,200}>([^<]*)<\/title/i.exec(source.slice(0, 512 * 1024));
  // The converter decodes the entities.
  const title = match ? oneLine(convertTitle(`<span>${match[1]}</span>`)) : '';
  return title === '' ? undefined : title;
}
