import { tableText } from '../text/table.ts';

/** Only short cells are repeated, as numbers and words: a long text would multiply. */
const REPEATED_LENGTH_MAX = 200;

interface Paragraph<Kind> {
  readonly text: string;
  readonly kind?: Kind;
}

interface OpenParagraph<Kind> {
  text: string;
  kind?: Kind;
  /** Notes, text boxes and tables inside the paragraph, which come after it. */
  readonly asides: Paragraph<Kind>[];
}

interface OpenTable<Kind> {
  readonly rows: string[][];
  /** Paragraphs of the open cell. */
  cell: Paragraph<Kind>[];
}

/**
 * Puts paragraphs and tables of an office document in order, however they are nested. A paragraph stays whole: notes and text
 * boxes inside it come after it. In a cell, everything is text of the cell.
 */
export class ParagraphStack<Kind = undefined> {
  readonly #emit: (text: string, kind: Kind | undefined) => void;
  readonly #open: (OpenParagraph<Kind> | OpenTable<Kind>)[] = [];

  /** @param emit gets each paragraph and table that lies in no other, in order; a table has no `kind` */
  constructor(emit: (text: string, kind: Kind | undefined) => void) {
    this.#emit = emit;
  }

  get isInTable(): boolean {
    return this.#open.some((level) => 'rows' in level);
  }

  openParagraph(kind?: Kind): void {
    this.#open.push({ text: '', ...(kind !== undefined && { kind }), asides: [] });
  }

  /** Text of the innermost paragraph; between paragraphs there is none. */
  text(text: string): void {
    const top = this.#paragraph();
    if (top) top.text += text;
  }

  /** Sets the kind of the innermost paragraph, where the document states it inside. */
  setKind(kind: Kind): void {
    const top = this.#paragraph();
    if (top) top.kind = kind;
  }

  /** Adds a text that comes after the innermost paragraph. */
  aside(text: string): void {
    this.#paragraph()?.asides.push({ text });
  }

  closeParagraph(): void {
    const paragraph = this.#paragraph();
    if (!paragraph) return;
    this.#open.pop();
    this.#write([paragraph, ...paragraph.asides]);
  }

  openTable(): void {
    this.#open.push({ rows: [], cell: [] });
  }

  openRow(): void {
    this.#table()?.rows.push([]);
  }

  closeCell(repeated = 1): void {
    const table = this.#table();
    if (!table) return;
    const text = table.cell
      .map(({ text }) => text.trim())
      .filter((text) => text !== '')
      .join(' ');
    table.cell = [];
    const count = text === '' || text.length > REPEATED_LENGTH_MAX ? 1 : repeated;
    for (let left = count; left > 0; left--) table.rows.at(-1)?.push(text);
  }

  closeTable(): void {
    const table = this.#table();
    if (!table) return;
    this.#open.pop();
    const { rows } = table;
    this.#write([{ text: this.isInTable ? rows.flat().join(' ') : tableText(rows) }]);
  }

  #write(all: readonly Paragraph<Kind>[]): void {
    const around = this.#open.at(-1);
    if (!around) for (const { text, kind } of all) this.#emit(text, kind);
    else if ('rows' in around) around.cell.push(...all);
    else around.asides.push(...all);
  }

  #paragraph(): OpenParagraph<Kind> | undefined {
    const top = this.#open.at(-1);
    return top && 'asides' in top ? top : undefined;
  }

  #table(): OpenTable<Kind> | undefined {
    const top = this.#open.at(-1);
    return top && 'rows' in top ? top : undefined;
  }
}
