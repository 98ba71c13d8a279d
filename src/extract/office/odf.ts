import type { Block } from '../../domain/document.ts';
import type { PageKind } from '../../domain/file/segment.ts';
import type { Zip } from '../archive/zip.ts';
import { corrupt } from '../reading/refusal.ts';
import { withoutControls } from '../text/charset.ts';
import { Outline, shorten } from '../text/outline.ts';
import { walkXml } from '../text/xml.ts';
import { officeReader } from './office.ts';
import { type OfficeContent, picturesOf, titleIn } from './office-content.ts';
import { ParagraphStack } from './paragraph-stack.ts';

const CELLS_REPEATED_MAX = 100;

export const odf = officeReader(readOdf);

/** OpenDocument (ISO/IEC 26300): text by headings, presentations by slides, spreadsheets by sheets. */
function readOdf(zip: Zip): OfficeContent {
  const source = zip.text('content.xml');
  if (source === undefined) throw corrupt('its content is missing');
  const title = titleIn(zip.text('meta.xml'));
  const reader = new OdfReader(title, zip.text('mimetype') ?? '');
  walkXml(source, reader, 'content.xml');
  const { title: heading, ...content } = reader.finish();
  const named = title ?? heading;
  return {
    ...content,
    pictures: picturesOf(
      zip,
      [...zip.names].filter((name) => name.startsWith('Pictures/')),
    ),
    ...(named !== undefined && { title: named }),
  };
}

/** Not text of the document: deletions, marks of notes (the notes themselves are read), authors and dates of remarks. */
const SKIPPED = [
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

  constructor(title: string | undefined, mimetype: string) {
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
      this.#name = shorten(attributes.name ?? '', 200);
      this.#lines = [];
    }
    if (tag === 'table') this.#stack.openTable();
    else if (tag === 'table-row') this.#stack.openRow();
    else if (tag === 'table-cell')
      this.#repeat = Math.min(CELLS_REPEATED_MAX, Number(attributes['number-columns-repeated'] ?? 1) || 1);
    else if (PARAGRAPHS.includes(fullName))
      this.#stack.openParagraph(tag === 'h' ? Number(attributes['outline-level'] ?? 1) || 1 : undefined);
    else if (tag === 's' || tag === 'tab') this.#stack.text(' ');
    else if (tag === 'line-break') this.#stack.text('\n');
  }

  text(text: string): void {
    this.#stack.text(text);
  }

  close(tag: string, fullName: string): void {
    if (tag === 'table-cell') {
      this.#stack.closeCell(this.#repeat);
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
