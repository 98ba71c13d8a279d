import {
  addNotRead,
  type NotRead,
  type UnreadPart,
  type UnreadReason,
} from '@farthing/protocol/file/not-read';
import { compile, type FormatCallback, type HtmlToTextOptions } from 'html-to-text';
import { checkHtml, NESTING_MAX } from './html-limits.ts';
import { type PageNode, PageStyles } from './html-styles.ts';
import { Links } from './links.ts';
import { Outline, oneLine } from './outline.ts';
import { raised, STRUCK } from './raised.ts';
import { type Cell, gridOf, tableText } from './table.ts';
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
  'template',
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
const NEVER_SHOWN = new Set(UNSHOWN);
/** Frames in frames whose pages are in the page itself. */
const FRAMES_DEEP_MAX = 2;
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

/** What is found of a page while it is converted: the converter has no place for it. */
let unread: NotRead[] = [];
let links = new Links();
let page: { readonly sheets: readonly string[]; readonly isWhole: boolean } = { sheets: [], isWhole: true };

function leftOut(what: UnreadPart, why: UnreadReason): FormatCallback {
  return (element) => {
    if (wordsOf(element).trim() !== '') unread.push({ what, count: 1, why });
  };
}

/** The text in an element, whatever it is for. */
function wordsOf(node: PageNode): string {
  if (node.type === 'text') return node.data ?? '';
  if (node.type === 'script' || node.type === 'style') return '';
  return (node.children ?? []).map(wordsOf).join(' ');
}

/** Takes out what the page hides. What a script would put in place (a declared shadow tree) is shown in its place. */
function takeOutHidden(root: PageNode, styles: PageStyles): void {
  const hide = (node: PageNode): void => {
    if (wordsOf(node).trim() !== '') unread.push({ what: 'hidden_text', count: 1, why: 'hidden' });
  };
  const walk = (element: PageNode): void => {
    const hidesText = styles.hidesText(element);
    element.children = (element.children ?? []).filter((child) => {
      if (child.type === 'text') {
        if (!hidesText || !/\S/.test(child.data ?? '')) return true;
        hide(child);
        return false;
      }
      if (child.type !== 'tag') return child.type !== 'comment';
      if (NEVER_SHOWN.has(child.name!)) return true;
      if (styles.hidesAll(child)) {
        hide(child);
        return false;
      }
      walk(child);
      return true;
    });
  };
  walk(root);
  if (styles.isSpent) unread.push({ what: 'hidden_text', why: 'limit' });
}

/** The words that a drawing shows. */
function drawnWords({ name, children = [] }: PageNode): readonly string[] {
  return children.flatMap((child) =>
    child.name === 'text' || (name === 'foreignobject' && child.type === 'text')
      ? [wordsOf(child)]
      : drawnWords(child),
  );
}

/** Formulas' symbols stand apart, so that each is a word. */
function formulaWords(node: PageNode): string {
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
    { selector: 'body', format: 'page' },
    { selector: 'a', format: 'link' },
    { selector: 'iframe', format: 'frame' },
    ...['template[shadowrootmode]', 'template[shadowroot]'].map((selector) => ({ selector, format: 'line' })),
    { selector: 'img', format: 'alternative' },
    { selector: 'input', format: 'filled' },
    { selector: 'math', format: 'formula' },
    { selector: 'svg', format: 'drawing' },
    { selector: 'rt', format: 'reading' },
    { selector: 'rtc', format: 'reading' },
    { selector: 'sup', format: 'raised' },
    ...['del', 's', 'strike'].map((selector) => ({ selector, format: 'struck' })),
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
    page: (element, walk, builder) => {
      takeOutHidden(element as PageNode, new PageStyles(page.sheets, page.isWhole));
      walk(element.children, builder);
    },
    link: (element, walk, builder) => {
      links.add(wordsOf(element as PageNode), element.attribs?.href ?? '');
      walk(element.children, builder);
    },
    frame: (element, _walk, builder) => {
      const source = element.attribs?.srcdoc;
      if (!source) return;
      builder.openBlock({ leadingLineBreaks: 2 });
      builder.addInline(framed(source));
      builder.closeBlock({ trailingLineBreaks: 2 });
    },
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
    struck: (element, walk, builder) => {
      const [before, behind] = wordsOf(element as PageNode).trim() === '' ? ['', ''] : STRUCK;
      builder.addInline(before, { noWordTransform: true });
      walk(element.children, builder);
      builder.addInline(behind, { noWordTransform: true });
    },
    noteMark: (element, walk, builder) => {
      builder.addInline(' [', { noWordTransform: true });
      walk(element.children, builder);
      builder.addInline(']', { noWordTransform: true });
    },
    rows: (element, walk, builder) => {
      if (isData(element as PageNode)) {
        dataTable(element as PageNode, walk, builder);
        return;
      }
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

/** A converter that is made for the first page: each takes as long as loading twenty modules, and many readers meet no HTML. */
function converter(options: HtmlToTextOptions): ReturnType<typeof compile> {
  let made: ReturnType<typeof compile> | undefined;
  return (...given) => {
    made ??= compile(options);
    return made(...given);
  };
}

const convert = converter({ ...OPTIONS, baseElements: { selectors: ['body'], returnDomByDefault: true } });
/** For marked-up text that is no HTML, or no longer XML: each element is a line. */
const convertUnknown = converter({
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

/**
 * The text of an HTML page in sections, its title, and where its links lead. Nothing is fetched.
 * @param sheets style sheets beside the page @throws document_too_large.
 */
export function readHtml(source: string, sheets: readonly string[] = []): TextContents {
  return sectionsOf(source, convert, sheets);
}

/** Text with tags of any kind, damaged or not: each element is a line of its own. @throws document_too_large. */
export function readTags(source: string): TextContents {
  return sectionsOf(source, convertUnknown, []);
}

function sectionsOf(
  source: string,
  convertPage: (html: string) => string,
  sheets: readonly string[],
): TextContents {
  unread = [];
  links = new Links();
  framesDeep = 0;
  const text = pageText(source, convertPage, sheets);
  const outline = new Outline(titleOf(source));
  outline.paragraph(describedIn(source).join('\n'));
  for (const paragraph of text.split(/\n{2,}/)) {
    // Text, then again and again a heading's level, its words, and text.
    const parts = withReadingsApart(withRaised(paragraph)).split(HEADING);
    for (let at = 0; at < parts.length; at += 3) {
      if (at > 0) outline.heading(Number(parts[at - 2]), parts[at - 1]!);
      const isLast = at + 1 === parts.length;
      outline.paragraph(tidied(isLast ? parts[at]! : withoutLastMarks(parts[at]!)));
    }
  }
  const { blocks, ...rest } = outline.finish();
  if (links.left > 0) unread.push({ what: 'navigation', count: links.left, why: 'limit' });
  return { ...rest, blocks: [...blocks, ...links.blocks(blocks)], notRead: addNotRead([], ...unread) };
}

function pageText(source: string, convertPage: (html: string) => string, sheets: readonly string[]): string {
  checkHtml(source);
  const around = page;
  const own = Array.from(source.matchAll(STYLE), ([, sheet]) => sheet!);
  page = {
    sheets: [...sheets, ...own],
    isWhole: sheets.length > 0 || !/<link\b[^>]{0,500}\bstylesheet\b/i.test(source),
  };
  try {
    // What has no body is one: the converter then gives its elements to `page`.
    return convertPage(/<body[\s>]/i.test(source) ? source : `<body>${source}`);
  } finally {
    page = around;
  }
}

const STYLE = /<style\b[^>]{0,500}>([^<]*(?:<(?!\/style)[^<]*)*)/gi;
let framesDeep = 0;

/** The text of a page in an attribute of a frame. */
function framed(source: string): string {
  if (framesDeep >= FRAMES_DEEP_MAX) {
    unread.push({ what: 'text', count: 1, why: 'limit' });
    return '';
  }
  framesDeep++;
  try {
    return pageText(source, convert, []);
  } finally {
    framesDeep--;
  }
}

/** What a page says of itself to those who look for it. */
function describedIn(source: string): string[] {
  const head = source.slice(0, 64 * 1024);
  const found = new Map<string, string>();
  for (const [tag] of head.matchAll(/<meta\s[^<>]{0,5000}>/gi)) {
    const name = /\b(?:name|property)\s{0,9}=\s{0,9}["']?([\w:]{1,40})/i.exec(tag)?.[1]?.toLowerCase();
    const value = /\bcontent\s{0,9}=\s{0,9}(?:"([^"]*)"|'([^']*)')/i.exec(tag);
    const label = name && DESCRIPTIONS[name];
    const words = value ? oneLine(convertTitle(`<span>${value[1] ?? value[2]}</span>`)) : '';
    if (label !== undefined && words !== '' && !found.has(label)) found.set(label, words);
  }
  return Array.from(found, ([label, words]) => (label === '' ? words : `${label}: ${words}`));
}

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  description: '',
  'og:description': '',
  author: 'Author',
  keywords: 'Keywords',
};

type Walk = Parameters<FormatCallback>[1];
type Builder = Parameters<FormatCallback>[2];

/** Elements that a cell of data does not hold: a table with them is there for the look of a page. */
const LAID_OUT =
  /^(?:table|h[1-6]|ul|ol|dl|article|section|form|blockquote|figure|header|footer|main|pre|iframe|template)$/;
const CELL_LENGTH_MAX = 1_000;

/** Rows of a table with the elements that are cells in them. */
function rowsIn(table: PageNode): PageNode[][] {
  const rows: PageNode[][] = [];
  for (const child of table.children ?? [])
    if (child.name === 'tr')
      rows.push((child.children ?? []).filter(({ name }) => /^t[dh]$/.test(name ?? '')));
    else if (/^(?:thead|tbody|tfoot)$/.test(child.name ?? '')) rows.push(...rowsIn(child));
  return rows;
}

function isData(table: PageNode): boolean {
  if (/^(?:presentation|none)$/.test(table.attribs?.role ?? '')) return false;
  const rows = rowsIn(table);
  const isLaidOut = (node: PageNode): boolean =>
    LAID_OUT.test(node.name ?? '') || (node.children ?? []).some(isLaidOut);
  return (
    rows.length > 1 &&
    rows.some((row) => row.length > 1) &&
    rows
      .flat()
      .every((cell) => !(cell.children ?? []).some(isLaidOut) && wordsOf(cell).length <= CELL_LENGTH_MAX)
  );
}

function dataTable(table: PageNode, walk: Walk, builder: Builder): void {
  const caption = table.children?.find(({ name }) => name === 'caption');
  if (caption) {
    builder.openBlock({ leadingLineBreaks: 2 });
    walk([caption] as never, builder);
    builder.closeBlock({ trailingLineBreaks: 1 });
  }
  const rows = rowsIn(table);
  // Rows of nothing but names of columns.
  const headers = rows.findIndex((row) => row.some(({ name }) => name !== 'th'));
  builder.openTable();
  for (const row of rows) {
    builder.openTableRow();
    for (const cell of row) {
      builder.openTableCell({});
      walk(cell.children as never, builder);
      const span = (name: string): number =>
        Math.max(1, Number.parseInt(cell.attribs?.[name] ?? '1', 10) || 1);
      builder.closeTableCell({ colspan: span('colspan'), rowspan: span('rowspan') });
    }
    builder.closeTableRow();
  }
  const tableToString = (read: { text: string; colspan: number; rowspan: number }[][]): string => {
    const cells = read.map((row) =>
      row.map(({ text, colspan, rowspan }): Cell => ({ text, across: colspan, down: rowspan })),
    );
    return tableText(gridOf(cells), { headers: Math.max(0, headers) });
  };
  builder.closeTable({ tableToString, leadingLineBreaks: caption ? 1 : 2, trailingLineBreaks: 2 } as never);
}

/** Readings above the words (ruby) follow the paragraph: they would tear its words apart. */
function withReadingsApart(paragraph: string): string {
  const readings = Array.from(paragraph.matchAll(READING), ([, words]) => words!.trim());
  if (readings.length === 0) return paragraph;
  return `${paragraph.replace(READING, '')} (${readings.join('')})`;
}

function withRaised(paragraph: string): string {
  return paragraph.replace(RAISED, (_all, before: string, mark: string) => before + raised(before, mark));
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

const convertTitle = converter({
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
