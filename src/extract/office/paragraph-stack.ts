import { tableText } from '../text/table.ts';

/** A cell that is repeated is short, as numbers and words are: a long text would multiply. */
const REPEATED_LENGTH_MAX = 200;

interface Written<Kind> {
  readonly text: string;
  readonly kind?: Kind;
}

interface OpenParagraph<Kind> {
  text: string;
  kind?: Kind;
  /** What stands inside the paragraph and is not of it: notes, text boxes, tables. */
  readonly asides: Written<Kind>[];
}

interface OpenTable<Kind> {
  readonly rows: string[][];
  /** Paragraphs of the open cell. */
  cell: Written<Kind>[];
}

/**
 * Paragraphs and tables of an office document while it is walked through, whatever lies in what. A note or a text box comes after
 * the paragraph that it stands in, which stays whole; in a cell, everything is text of the cell.
 */
export class ParagraphStack<Kind = undefined> {
  readonly #emit: (text: string, kind: Kind | undefined) => void;
  readonly #open: (OpenParagraph<Kind> | OpenTable<Kind>)[] = [];

  /** @param emit takes each paragraph and table outside others, in order; `kind` is undefined for tables */
  constructor(emit: (text: string, kind: Kind | undefined) => void) {
    this.#emit = emit;
  }

  get isInTable(): boolean {
    return this.#open.some((one) => 'rows' in one);
  }

  openParagraph(kind?: Kind): void {
    this.#open.push({ text: '', ...(kind !== undefined && { kind }), asides: [] });
  }

  /** Text of the innermost paragraph; between paragraphs there is none. */
  text(text: string): void {
    const top = this.#paragraph();
    if (top) top.text += text;
  }

  /** What the innermost paragraph is, where that is only said inside of it. */
  setKind(kind: Kind): void {
    const top = this.#paragraph();
    if (top) top.kind = kind;
  }

  /** A text that comes after the innermost paragraph. */
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
      .map((one) => one.text.trim())
      .filter((one) => one !== '')
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

  #write(all: readonly Written<Kind>[]): void {
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
