import type { Block } from '../domain/document.ts';
import { withoutControls } from './charset.ts';
import { type OfficeContent, picturesOf, titleIn } from './office-content.ts';
import { Outline, shorten } from './outline.ts';
import { corrupt } from './refusal.ts';
import { tableText } from './table.ts';
import { walkXml } from './xml.ts';
import type { Zip } from './zip.ts';

const CELLS_REPEATED_MAX = 100;

/** OpenDocument (ISO/IEC 26300): text by headings, presentations by slides, spreadsheets by sheets. */
export function readOdf(zip: Zip): OfficeContent {
  const source = zip.text('content.xml');
  if (source === undefined) throw corrupt('its content is missing');
  const title = titleIn(zip.text('meta.xml'));
  const reader = new OdfReader(title, zip.text('mimetype') ?? '');
  walkXml(source, reader, 'content.xml');
  const { blocks, pages, title: found } = reader.finish();
  const named = title ?? found;
  return {
    blocks,
    pictures: picturesOf(
      zip,
      [...zip.names].filter((name) => name.startsWith('Pictures/')),
    ),
    ...(pages > 0 && { pages }),
    ...(named !== undefined && { title: named }),
  };
}

class OdfReader {
  readonly #outline: Outline;
  readonly #blocks: Block[] = [];
  readonly #pageTag: string | undefined;
  #pages = 0;
  #name = '';
  #lines: string[] = [];
  #rows: string[][] | undefined;
  #repeat = 1;
  #text = '';
  #level: number | undefined;

  constructor(title: string | undefined, mimetype: string) {
    this.#outline = new Outline(title);
    this.#pageTag = mimetype.includes('presentation')
      ? 'page'
      : mimetype.includes('spreadsheet')
        ? 'table'
        : undefined;
  }

  open(tag: string, attributes: Readonly<Record<string, string>>): void {
    if (tag === this.#pageTag) {
      this.#pages++;
      this.#name = shorten(attributes.name ?? '', 200);
      this.#lines = [];
    }
    if (tag === 'table') this.#rows = [];
    else if (tag === 'table-row') this.#rows?.push([]);
    else if (tag === 'table-cell') {
      this.#text = '';
      this.#repeat = Math.min(CELLS_REPEATED_MAX, Number(attributes['number-columns-repeated'] ?? 1) || 1);
    } else if (tag === 'h' || tag === 'p') {
      this.#level = tag === 'h' ? Number(attributes['outline-level'] ?? 1) || 1 : undefined;
      if (!this.#rows) this.#text = '';
      else if (this.#text !== '') this.#text += ' ';
    } else if (tag === 's' || tag === 'tab') this.#text += ' ';
    else if (tag === 'line-break') this.#text += '\n';
  }

  text(text: string): void {
    this.#text += text;
  }

  close(tag: string): void {
    if (tag === 'table-cell') {
      const cell = this.#text.trim();
      for (let count = 0; count < (cell === '' ? 1 : this.#repeat); count++) this.#rows?.at(-1)?.push(cell);
    } else if (tag === 'table') {
      this.#paragraph(tableText(this.#rows ?? []));
      this.#rows = undefined;
    } else if ((tag === 'h' || tag === 'p') && !this.#rows) {
      if (this.#level !== undefined && !this.#pageTag) this.#outline.heading(this.#level, this.#text);
      else this.#paragraph(this.#text);
    }
    if (tag === this.#pageTag) this.#closePage();
  }

  finish(): { blocks: Block[]; pages: number; title?: string } {
    if (this.#pageTag) return { blocks: this.#blocks, pages: this.#pages };
    return { ...this.#outline.finish(), pages: 0 };
  }

  #paragraph(text: string): void {
    if (this.#pageTag) this.#lines.push(withoutControls(text).trim());
    else this.#outline.paragraph(text);
  }

  #closePage(): void {
    const text = this.#lines.filter((line) => line !== '').join('\n');
    this.#lines = [];
    if (text !== '')
      this.#blocks.push({ text, page: this.#pages, ...(this.#name !== '' && { heading: this.#name }) });
  }
}
