import type { Block } from '@farthing/protocol/document';
import type { PageKind } from '@farthing/protocol/file/segment';
import type { Zip } from '../archive/zip.ts';
import type { EmbeddedPicture } from '../picture/embedded.ts';
import type { MakeReader } from '../reading/format-reader.ts';
import { corrupt } from '../reading/refusal.ts';
import { readText, withoutControls } from '../text/charset.ts';
import { Links } from '../text/links.ts';
import { Outline, shorten } from '../text/outline.ts';
import { raised, STRUCK } from '../text/raised.ts';
import { walkXml } from '../text/xml.ts';
import { OdfLooks } from './odf-styles.ts';
import { cellValue } from './odf-values.ts';
import { contentReader, officeReader } from './office.ts';
import {
  aboutIn,
  type OfficeContent,
  PICTURES_MAX,
  picturesOf,
  type Report,
  titleIn,
} from './office-content.ts';
import { ParagraphStack } from './paragraph-stack.ts';

/** Each of them says the same. */
const CELLS_REPEATED_MAX = 100;

export const odf = officeReader(readOdf);

/** OpenDocument (ISO/IEC 26300): text by headings, presentations by slides, spreadsheets by sheets; headers and footers once each. */
function readOdf(zip: Zip, report: Report): OfficeContent {
  const source = zip.text('content.xml');
  if (source === undefined) throw corrupt('its content is missing');
  const content = readContent(source, {
    meta: zip.text('meta.xml'),
    mimetype: zip.text('mimetype') ?? '',
    styles: zip.text('styles.xml'),
    report,
  });
  const objects = [...zip.names].filter((name) => /^[^/]+\/content\.xml$/.test(name)).length;
  if (objects > 0) report('charts', 'unsupported', objects);
  const pictures = [...zip.names].filter((name) => name.startsWith('Pictures/'));
  return { ...content, pictures: picturesOf(zip, pictures, report) };
}

/** OpenDocument as one XML file (part 3, 2.2.1): what a package has in parts stands in one element each. */
export const flatOdf: MakeReader = (mediaType) =>
  contentReader(mediaType, {
    sniff: (file) => {
      const text = file.find(readText)?.text;
      if (text === undefined || !/<office:document[\s>]/.test(text.slice(0, FLAT_START_LENGTH))) return false;
      return (
        /office:mimetype="([^"]{1,200})"/.exec(text.slice(0, FLAT_START_LENGTH))?.[1] ===
        packageTypeOf(mediaType)
      );
    },
    read: (file, report) => {
      const source = file.find(readText)?.text;
      if (source === undefined) throw corrupt('it is no text');
      const content = readContent(source, {
        meta: flatMeta(source),
        mimetype: packageTypeOf(mediaType),
        styles: source,
        report,
      });
      return { ...content, pictures: flatPictures(source, report) };
    },
  });

/** The properties stand before the content. */
const META_END = 64 * 1024;
const META = /<office:meta>([\s\S]{0,60000}?)<\/office:meta>/;
const FLAT_START_LENGTH = 8192;
const FLAT = '-flat-xml';

function flatMeta(source: string): string | undefined {
  const inside = META.exec(source.slice(0, META_END))?.[1];
  return inside === undefined ? undefined : `<office:meta>${inside}</office:meta>`;
}

function packageTypeOf(mediaType: string): string {
  return mediaType.slice(0, -FLAT.length);
}

function flatPictures(source: string, report: Report): EmbeddedPicture[] {
  const found: EmbeddedPicture[] = [];
  let base64: string | undefined;
  walkXml(source, {
    open: (_, __, name) => {
      if (name !== 'office:binary-data') return;
      if (found.length < PICTURES_MAX) base64 = '';
      else report('pictures', 'limit', 1);
    },
    text: (text) => {
      if (base64 !== undefined) base64 += text;
    },
    close: () => {
      if (base64) found.push({ bytes: Buffer.from(base64, 'base64') });
      base64 = undefined;
    },
  });
  return found;
}

function readContent(
  source: string,
  {
    meta,
    mimetype,
    styles,
    report,
  }: { meta: string | undefined; mimetype: string; styles: string | undefined; report: Report },
): Omit<OfficeContent, 'pictures'> {
  const title = titleIn(meta);
  const looks = new OdfLooks();
  if (styles !== undefined && styles !== source)
    walkXml(styles, {
      open: (_, attributes, name) => name.startsWith('style:') && looks.open(name, attributes),
    });
  const reader = new OdfReader(title, mimetype, report, looks);
  walkXml(source, reader, 'content.xml');
  const { title: heading, blocks, ...content } = reader.finish();
  const named = title ?? heading;
  const repeated = styles === undefined ? '' : repeatedText(styles);
  return {
    ...content,
    blocks: [
      ...blocks,
      ...(repeated === '' ? [] : [{ text: repeated, heading: 'Header and footer' }]),
      ...reader.links.blocks(blocks),
      ...aboutIn(meta),
    ],
    ...(named !== undefined && { title: named }),
  };
}

/** The texts of all headers and footers, each once. Fields, as the page's number, are not among them. */
function repeatedText(styles: string): string {
  const texts = new Set<string>();
  let inside = 0;
  const stack = new ParagraphStack((text) => texts.add(withoutControls(text).trim()));
  const isRepeated = (name: string): boolean => /^style:(header|footer)(-left|-first)?$/.test(name);
  walkXml(styles, {
    skips: (_, name) => name === 'office:body' || name === 'text:page-number' || name === 'text:page-count',
    open: (_, __, name) => {
      if (isRepeated(name)) inside++;
      else if (inside > 0 && name === 'text:p') stack.openParagraph();
      else if (inside > 0 && (name === 'text:tab' || name === 'text:s')) stack.text(' ');
    },
    text: (text) => {
      if (inside > 0) stack.text(text);
    },
    close: (_, name) => {
      if (isRepeated(name)) inside--;
      else if (inside > 0 && name === 'text:p') stack.closeParagraph();
    },
  });
  return [...texts].filter((text) => /\p{L}/u.test(text)).join('\n');
}

/** Not text of the document: deletions, marks of notes (the notes themselves are read), authors and dates of remarks. */
const SKIPPED = [
  'office:binary-data',
  'office:master-styles',
  'office:meta',
  'text:tracked-changes',
  'table:tracked-changes',
  'text:note-citation',
  'dc:creator',
  'dc:date',
  'meta:creator-initials',
];
/** Elements that hold a paragraph. The last two describe a drawing. */
const PARAGRAPHS = ['text:p', 'text:h', 'svg:title', 'svg:desc'];

/** Elements that are pages, by a word of the document's media type. */
const PAGES: readonly (readonly [word: string, tag: string, kind: PageKind])[] = [
  ['presentation', 'page', 'slide'],
  ['spreadsheet', 'table', 'sheet'],
];

interface Cell {
  readonly value: string | undefined;
  readonly formula: string | undefined;
  hasText: boolean;
}

class OdfReader {
  readonly #outline: Outline;
  readonly #blocks: Block[] = [];
  readonly #pageTag: string | undefined;
  readonly #pageKind: PageKind | undefined;
  readonly #stack = new ParagraphStack<number>((text, level) => this.#paragraph(text, level));
  #pages = 0;
  #name = '';
  #lines: string[] = [];
  #repeat = 1;
  /** The cells around this place, the innermost last. */
  readonly #cells: Cell[] = [];
  readonly #report: Report;
  readonly #looks: OdfLooks;
  readonly links = new Links();
  #link: { target: string; words: string } | undefined;
  #last = '';
  #hidesRow = false;

  constructor(title: string | undefined, mimetype: string, report: Report, looks: OdfLooks) {
    this.#report = report;
    this.#looks = looks;
    this.#outline = new Outline(title);
    const [, tag, kind] = PAGES.find(([word]) => mimetype.includes(word)) ?? [];
    this.#pageTag = tag;
    this.#pageKind = kind;
  }

  skips(_tag: string, fullName: string): boolean {
    return SKIPPED.includes(fullName);
  }

  open(tag: string, attributes: Readonly<Record<string, string>>, fullName: string): void {
    if (tag === this.#pageTag && !this.#stack.isInTable) {
      this.#pages++;
      this.#name = shorten(attributes.name ?? '', 200, this.#report);
      this.#lines = [];
    }
    this.#looks.open(fullName, attributes);
    if (fullName === 'text:a') this.#link = { target: attributes.href ?? '', words: '' };
    if (tag === 'table') this.#stack.openTable();
    else if (tag === 'table-row') {
      this.#stack.openRow();
      this.#hidesRow = /collapse|filter/.test(attributes.visibility ?? '');
    } else if (tag === 'table-cell') {
      const span = (name: string): number => Number(attributes[`number-${name}-spanned`] ?? 1) || 1;
      this.#stack.spanCell(span('columns'), span('rows'));
      this.#repeat = Math.min(CELLS_REPEATED_MAX, Number(attributes['number-columns-repeated'] ?? 1) || 1);
      this.#cells.push({ value: cellValue(attributes), formula: attributes.formula, hasText: false });
    } else if (PARAGRAPHS.includes(fullName)) {
      const cell = this.#cells.at(-1);
      if (cell) cell.hasText = true;
      this.#stack.openParagraph(tag === 'h' ? Number(attributes['outline-level'] ?? 1) || 1 : undefined);
    } else if (tag === 's' || tag === 'tab') this.#stack.text(' ');
    else if (tag === 'line-break') this.#stack.text('\n');
  }

  text(text: string): void {
    if (this.#looks.hides) {
      if (text.trim() !== '') this.#report('hidden_text', 'hidden', 1);
      return;
    }
    const before = /[\p{L}\p{N}]*$/u.exec(this.#last)?.[0] ?? '';
    const shown = this.#looks.isRaised ? raised(before, text) : text;
    this.#stack.text(this.#looks.isStruck && text.trim() !== '' ? STRUCK.join(shown) : shown);
    this.#last = text.slice(-30);
    if (this.#link) this.#link.words += text;
  }

  close(tag: string, fullName: string): void {
    this.#looks.close(fullName);
    if (fullName === 'text:a') {
      if (this.#link) this.links.add(this.#link.words, this.#link.target);
      this.#link = undefined;
    }
    if (tag === 'table-cell') {
      this.#showValue(this.#cells.pop());
      this.#stack.closeCell(this.#repeat, this.#hidesRow ? ' (hidden)' : '');
      // A table inside this cell has set it.
      this.#repeat = 1;
    } else if (tag === 'table') this.#stack.closeTable();
    else if (PARAGRAPHS.includes(fullName)) this.#stack.closeParagraph();
    if (tag === this.#pageTag && !this.#stack.isInTable) this.#closePage();
  }

  finish(): Omit<OfficeContent, 'pictures'> {
    if (!this.#pageTag) return this.#outline.finish();
    return { blocks: this.#blocks, ...(this.#pages > 0 && { pages: this.#pages, pageKind: this.#pageKind }) };
  }

  /** What a cell without a text holds. A formula without a value is given itself. */
  #showValue(cell: Cell | undefined): void {
    if (!cell || cell.hasText) return;
    const { value, formula } = cell;
    if (value === undefined && formula !== undefined) this.#report('formulas', 'no_value', 1);
    const shown = value ?? formula;
    if (shown === undefined) return;
    this.#stack.openParagraph();
    this.#stack.text(shown);
    this.#stack.closeParagraph();
  }

  #paragraph(text: string, level: number | undefined): void {
    if (this.#pageTag) this.#lines.push(withoutControls(text).trim());
    else if (level !== undefined) this.#outline.heading(level, text);
    else this.#outline.paragraph(text);
  }

  #closePage(): void {
    const text = this.#lines.filter((line) => line !== '').join('\n');
    this.#lines = [];
    if (text !== '')
      this.#blocks.push({ text, page: this.#pages, ...(this.#name !== '' && { heading: this.#name }) });
  }
}
