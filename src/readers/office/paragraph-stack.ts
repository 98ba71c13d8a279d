import { type Cell, gridOf, REPEATED_LENGTH_MAX, tableText } from '../text/table.ts';

interface Paragraph<Kind> {
  readonly text: string;
  readonly kind?: Kind;
}

interface OpenParagraph<Kind> {
  text: string;
  kind?: Kind;
  /** How words are spoken, which are written above them. */
  readings: string;
  /** Notes, text boxes and tables inside the paragraph, which come after it. */
  readonly asides: Paragraph<Kind>[];
}

interface OpenTable<Kind> {
  readonly rows: Cell[][];
  /** Rows at the top that are names of columns. */
  headers: number;
  /** Paragraphs of the open cell, how many columns it reaches over, and whether it goes on from the row above. */
  cell: Paragraph<Kind>[];
  across: number;
  down: number;
  goesOn: boolean;
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
    this.#open.push({ text: '', ...(kind !== undefined && { kind }), readings: '', asides: [] });
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

  /** Adds a reading of words: at the end of the paragraph, where it does not tear them apart. */
  reading(text: string): void {
    const top = this.#paragraph();
    if (top) top.readings += text;
  }

  /** Adds a text that comes after the innermost paragraph. */
  aside(text: string): void {
    this.#paragraph()?.asides.push({ text });
  }

  closeParagraph(): void {
    const paragraph = this.#paragraph();
    if (!paragraph) return;
    this.#open.pop();
    if (paragraph.readings !== '') paragraph.text += ` (${paragraph.readings})`;
    this.#write([paragraph, ...paragraph.asides]);
  }

  openTable(): void {
    this.#open.push({ rows: [], headers: 0, cell: [], across: 1, down: 1, goesOn: false });
  }

  openRow(): void {
    this.#table()?.rows.push([]);
  }

  /** The open row says what the columns are. */
  headRow(): void {
    const table = this.#table();
    if (table && table.headers === table.rows.length - 1) table.headers++;
  }

  /** The open cell reaches over so many columns and rows. */
  spanCell(across: number, down = 1): void {
    const table = this.#table();
    if (table) [table.across, table.down] = [across, down];
  }

  /** The open cell is one with that above it. @param goesOn false: it is the first of them */
  mergeCell(goesOn: boolean): void {
    const table = this.#table();
    if (table) table.goesOn = goesOn;
  }

  /** The open cell lies under the one before it. */
  coveredCell(): void {
    const table = this.#table();
    if (table) table.across = 0;
  }

  /** @param mark behind the text of a cell that has one */
  closeCell(repeated = 1, mark = ''): void {
    const table = this.#table();
    if (!table) return;
    const { cell, across, down, goesOn, rows } = table;
    [table.cell, table.across, table.down, table.goesOn] = [[], 1, 1, false];
    if (across === 0) return;
    const text = cell
      .map(({ text }) => text.trim())
      .filter((text) => text !== '')
      .join(' ');
    const row = rows.at(-1);
    const column = row?.reduce((sum, { across: width = 1 }) => sum + width, 0) ?? 0;
    const shown = text !== '' ? `${text}${mark}` : goesOn ? cellAt(rows.at(-2), column) : '';
    const count = text === '' || text.length > REPEATED_LENGTH_MAX ? 1 : repeated;
    for (let left = count; left > 0; left--)
      row?.push({ text: shown, ...(across > 1 && { across }), ...(down > 1 && { down }) });
  }

  closeTable(): void {
    const table = this.#table();
    if (!table) return;
    this.#open.pop();
    const { rows, headers } = table;
    const text = this.isInTable
      ? rows
          .flat()
          .map((cell) => cell.text)
          .join(' ')
      : tableText(gridOf(rows), { headers });
    this.#write([{ text }]);
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

/** The text of the cell in a column, where it is short enough to be repeated. */
function cellAt(row: readonly Cell[] | undefined, column: number): string {
  let from = 0;
  for (const { text, across = 1 } of row ?? []) {
    if (column < from + across) return text.length <= REPEATED_LENGTH_MAX ? text : '';
    from += across;
  }
  return '';
}
