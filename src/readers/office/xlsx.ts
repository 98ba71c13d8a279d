import type { Block } from '@farthing/protocol/document';
import { documentPart, linksOf, relationships, targetsOf } from '../archive/relationships.ts';
import type { Zip } from '../archive/zip.ts';
import type { EmbeddedPicture } from '../picture/embedded.ts';
import { corrupt, tooLarge } from '../reading/refusal.ts';
import { withoutControls } from '../text/charset.ts';
import { Links } from '../text/links.ts';
import { shorten } from '../text/outline.ts';
import { REPEATED_LENGTH_MAX, REPEATED_MAX, rowsOfNames, tableText } from '../text/table.ts';
import { walkXml } from '../text/xml.ts';
import { drawingTexts } from './drawings.ts';
import { officeReader } from './office.ts';
import {
  type Attachment,
  aboutIn,
  attachmentsOf,
  type OfficeContent,
  picturesOf,
  type Report,
  titleIn,
} from './office-content.ts';
import { sheetComments } from './xlsx-comments.ts';
import { headersOf } from './xlsx-headers.ts';
import { numberFormats, numberText } from './xlsx-numbers.ts';

export const xlsx = officeReader(readXlsx);

const COLUMNS_MAX = 1_000;
const CELLS_MAX = 2_000_000;
/** Of all cells together: many cells can show one long text that is stored once. */
const CHARACTERS_MAX = 50_000_000;

/**
 * SpreadsheetML (ECMA-376 part 1, 18): each sheet as a table below its name, with its comments, text boxes and charts. Numbers are
 * as shown. A formula without a value is given itself.
 */
function readXlsx(zip: Zip, report: Report): OfficeContent {
  const main = documentPart(zip) ?? 'xl/workbook.xml';
  const source = zip.text(main);
  if (source === undefined) throw corrupt('the list of its sheets is missing');
  const parts = relationships(zip, main);
  const partOf = (type: string): string => targetsOf(parts, type)[0] ?? `xl/${type}.xml`;
  const targets = new Map(parts.map(({ id, target }) => [id, target]));
  const sheets: { name: string; part: string }[] = [];
  let is1904 = false;
  walkXml(source, {
    open: (tag, { name = '', id, date1904, state = '' }) => {
      if (tag === 'workbookPr') is1904 = date1904 === '1' || date1904 === 'true';
      const part = tag === 'sheet' && id !== undefined ? targets.get(id) : undefined;
      const hidden = /hidden/i.test(state) ? ' (hidden sheet)' : '';
      if (part) sheets.push({ name: `${shorten(name, 200, report)}${hidden}`, part });
    },
  });
  const shared = sharedStrings(zip.text(partOf('sharedStrings')));
  const formats = numberFormats(zip.text(partOf('styles')));
  const shownAs = (value: string, style: string | undefined): string =>
    numberText(value, formats[Number(style ?? 0)] ?? {}, is1904);
  const hides = (style: string | undefined): boolean => formats[Number(style ?? 0)]?.isHidden ?? false;
  const links = new Links();
  const blocks: Block[] = [];
  const headers = new Set<string>();
  const pictures: EmbeddedPicture[] = [];
  const attachments: Attachment[] = [];
  const take = cellBudget();
  for (const [index, { name, part }] of sheets.entries()) {
    const related = relationships(zip, part);
    const sheet = zip.text(part) ?? '';
    for (const header of headersOf(sheet, report)) headers.add(header);
    const targets = linksOf(zip, part);
    const onLink = (words: string, id: string): void => links.add(words, targets.get(id) ?? id);
    const table = sheetText(sheet, { shared, shownAs, hides, take, report, onLink });
    const drawings = targetsOf(related, 'drawing');
    const texts = drawings.flatMap((drawing) => drawingTexts(zip, drawing, report));
    const whole = [table, sheetComments(zip, related, main, report).join('\n'), ...texts];
    const text = withoutControls(whole.filter((part) => part !== '').join('\n\n'));
    if (text !== '') blocks.push({ text, page: index + 1, heading: name });
    const media = drawings.flatMap((drawing) => relationships(zip, drawing).map(({ target }) => target));
    pictures.push(...picturesOf(zip, media, report, index + 1));
    attachments.push(...attachmentsOf(zip, related, report));
  }
  if (headers.size > 0) blocks.push({ text: [...headers].join('\n'), heading: 'Header and footer' });
  const core = zip.text('docProps/core.xml');
  const title = titleIn(core);
  return {
    blocks: [...blocks, ...links.blocks(blocks), ...aboutIn(core)],
    pictures,
    attachments,
    pages: sheets.length,
    pageKind: 'sheet',
    ...(title !== undefined && { title }),
  };
}

/** Counts the cells and characters of a spreadsheet. @throws document_too_large. */
export function cellBudget(): (characters: number) => void {
  let [cells, characters] = [CELLS_MAX, CHARACTERS_MAX];
  return (length) => {
    cells--;
    characters -= length;
    if (cells < 0)
      throw tooLarge(`Send spreadsheets of at most ${CELLS_MAX} cells.`, { limit_cells: CELLS_MAX });
    if (characters < 0)
      throw tooLarge(`Send spreadsheets of at most ${CHARACTERS_MAX} characters in their cells.`, {
        limit_characters: CHARACTERS_MAX,
      });
  };
}

/** How a pronunciation above other letters is stored: in a spreadsheet's text it would stand beside them. */
const PHONETIC = 'rPh';

/** Characters that XML cannot hold are written by their numbers (ECMA-376 part 1, 22.9.2.19). */
function unescaped(text: string): string {
  return text.replace(/_x([0-9A-F]{4})_/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}

function sharedStrings(source: string | undefined): string[] {
  const strings: string[] = [];
  let [text, inText] = ['', false];
  if (source === undefined) return strings;
  walkXml(source, {
    skips: (name) => name === PHONETIC,
    open: (name) => {
      if (name === 'si') text = '';
      inText = name === 't';
    },
    text: (more) => {
      if (inText) text += more;
    },
    close: (name) => {
      inText = false;
      if (name === 'si') strings.push(unescaped(text));
    },
  });
  return strings;
}

interface SheetOptions {
  readonly shared: readonly string[];
  readonly shownAs: (value: string, style: string | undefined) => string;
  /** Whether a style's letters are not seen. */
  readonly hides: (style: string | undefined) => boolean;
  readonly take: (characters: number) => void;
  readonly report: Report;
  /** @param target an address, or the id of one */
  readonly onLink: (words: string, target: string) => void;
}

interface Sheet {
  readonly rows: string[][];
  /** By the numbers of the rows in the file, their places among `rows`. */
  readonly places: Map<number, number>;
  readonly hiddenRows: Set<number>;
  readonly hiddenColumns: Set<number>;
  readonly merged: (readonly [from: Place, to: Place])[];
}

interface Place {
  readonly row: number;
  readonly column: number;
}

/** A sheet as a table; hidden rows and columns are marked, and a merged cell stands in each of its places. */
function sheetText(source: string, options: SheetOptions): string {
  const { rows, places, hiddenRows, hiddenColumns, merged } = readSheet(source, options);
  const reaching = new Set<number>();
  const names = rowsOfNames(rows);
  let left = REPEATED_MAX;
  for (const [from, to] of merged) {
    const top = places.get(from.row) ?? rows.length;
    const text = rows[top]?.[from.column] ?? '';
    const isTitle = to.column > from.column && rows[top]?.every((cell) => cell === '' || cell === text);
    if (text === '' || text.length > REPEATED_LENGTH_MAX || isTitle) continue;
    if (to.column > from.column) reaching.add(top);
    const bottom = Math.min(top + to.row - from.row, rows.length - 1);
    // A name holds for each column below it; a sum that reaches over cells is in none of them.
    const right = top < names ? Math.min(to.column, COLUMNS_MAX - 1) : from.column;
    for (let at = top; at <= bottom && left > 0; at++)
      for (let column = from.column; column <= right && left-- > 0; column++) {
        while (rows[at]!.length <= column) rows[at]!.push('');
        rows[at]![column] ||= text;
      }
  }
  const marked = rows.map((row, at) =>
    row.map((text, column) =>
      text !== '' && (hiddenRows.has(at) || hiddenColumns.has(column)) ? `${text} (hidden)` : text,
    ),
  );
  return tableText(marked, { reaches: (row) => reaching.has(row) });
}

function readSheet(source: string, { shared, shownAs, hides, take, report, onLink }: SheetOptions): Sheet {
  const rows: string[][] = [];
  const sheet: Sheet = {
    rows,
    places: new Map(),
    hiddenRows: new Set(),
    hiddenColumns: new Set(),
    merged: [],
  };
  let [column, type, value, formula, into] = [0, '', '', '', ''];
  let style: string | undefined;
  let isComputed = false;
  // A table or a rule colours cells by itself.
  const isPlain = !/<(?:\w+:)?(?:conditionalFormatting|tablePart)\b/.test(source);
  const shownText = (): string => {
    if (value === '' && isComputed) {
      report('formulas', 'no_value', 1);
      return formula === '' ? '' : `=${formula}`;
    }
    if (value !== '' && isPlain && hides(style)) {
      report('hidden_text', 'hidden', 1);
      return '';
    }
    if (type === 's') return shared[Number(value)] ?? '';
    if (type === 'b') return value === '1' ? 'true' : 'false';
    if (type !== '' && type !== 'n') return unescaped(value);
    const shown = shownAs(value, style);
    if (shown === '' && value !== '') report('hidden_text', 'hidden', 1);
    return shown;
  };
  if (source === '') return sheet;
  walkXml(source, {
    skips: (name) => name === PHONETIC,
    open: (name, attributes) => {
      const isHidden = attributes.hidden === '1' || attributes.hidden === 'true';
      if (name === 'row') {
        if (isHidden) sheet.hiddenRows.add(rows.length);
        sheet.places.set(Number(attributes.r ?? rows.length + 1), rows.length);
        rows.push([]);
      } else if (name === 'col' && isHidden) {
        const last = Math.min(Number(attributes.max), COLUMNS_MAX);
        for (let at = Number(attributes.min); at <= last; at++) sheet.hiddenColumns.add(at - 1);
      } else if (name === 'mergeCell') {
        const [from, to] = (attributes.ref ?? '').split(':').map(placeOf);
        if (from && to && sheet.merged.length < MERGED_MAX) sheet.merged.push([from, to]);
      } else if (name === 'hyperlink') {
        const place = placeOf(attributes.ref?.split(':')[0]);
        const words = place && rows[sheet.places.get(place.row) ?? -1]?.[place.column];
        if (attributes.id) onLink(words ?? attributes.display ?? '', attributes.id);
      } else if (name === 'c') {
        column = columnOf(attributes.r) ?? rows.at(-1)?.length ?? 0;
        [type, value, formula, style] = [attributes.t ?? '', '', '', attributes.s];
        isComputed = false;
      } else if (name === 'f') isComputed = true;
      into = name;
    },
    text: (text) => {
      if (into === 'v' || into === 't') value += text;
      else if (into === 'f') formula += text;
    },
    close: (name) => {
      into = '';
      const row = rows.at(-1);
      if (name !== 'c' || !row) return;
      if (column >= COLUMNS_MAX) {
        if (value !== '') report('text', 'limit', 1);
        return;
      }
      while (row.length < column) row.push('');
      const shown = shownText();
      const target = /^HYPERLINK\("([^"]{1,2000})"/i.exec(formula)?.[1];
      if (target !== undefined) onLink(shown, target);
      take(shown.length);
      row[column] = shown;
    },
  });
  return sheet;
}

/** No sheet for people has more. */
const MERGED_MAX = 5_000;

/** Of a reference like "AB12", from 0, its row from 1. */
function placeOf(reference: string | undefined): Place | undefined {
  const column = columnOf(reference);
  const row = Number(/\d{1,7}$/.exec(reference ?? '')?.[0]);
  return column === undefined || !row ? undefined : { row, column };
}

/** Column of a reference like "AB12", from 0. */
function columnOf(reference: string | undefined): number | undefined {
  const letters = /^[A-Z]{1,3}/.exec(reference ?? '')?.[0];
  if (!letters) return undefined;
  return [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}
