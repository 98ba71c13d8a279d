import type { Block } from '@farthing/protocol/document';
import { documentPart, relationships, targetsOf } from '../archive/relationships.ts';
import type { Zip } from '../archive/zip.ts';
import type { EmbeddedPicture } from '../picture/embedded.ts';
import { corrupt, tooLarge } from '../reading/refusal.ts';
import { withoutControls } from '../text/charset.ts';
import { shorten } from '../text/outline.ts';
import { tableText } from '../text/table.ts';
import { walkXml } from '../text/xml.ts';
import { drawingTexts } from './drawings.ts';
import { officeReader } from './office.ts';
import {
  type Attachment,
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
  const blocks: Block[] = [];
  const headers = new Set<string>();
  const pictures: EmbeddedPicture[] = [];
  const attachments: Attachment[] = [];
  const take = cellBudget();
  for (const [index, { name, part }] of sheets.entries()) {
    const related = relationships(zip, part);
    const sheet = zip.text(part) ?? '';
    for (const header of headersOf(sheet, report)) headers.add(header);
    const table = tableText(readSheet(sheet, { shared, shownAs, take, report }));
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
  const title = titleIn(zip.text('docProps/core.xml'));
  return {
    blocks,
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
  readonly take: (characters: number) => void;
  readonly report: Report;
}

function readSheet(source: string, { shared, shownAs, take, report }: SheetOptions): string[][] {
  const rows: string[][] = [];
  let [column, type, value, formula, into] = [0, '', '', '', ''];
  let style: string | undefined;
  let isComputed = false;
  const shownText = (): string => {
    if (value === '' && isComputed) {
      report('formulas', 'no_value', 1);
      return formula === '' ? '' : `=${formula}`;
    }
    if (type === 's') return shared[Number(value)] ?? '';
    if (type === 'b') return value === '1' ? 'true' : 'false';
    if (type !== '' && type !== 'n') return unescaped(value);
    const shown = shownAs(value, style);
    if (shown === '' && value !== '') report('hidden_text', 'hidden', 1);
    return shown;
  };
  if (source === '') return rows;
  walkXml(source, {
    skips: (name) => name === PHONETIC,
    open: (name, attributes) => {
      if (name === 'row') rows.push([]);
      else if (name === 'c') {
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
      take(shown.length);
      row[column] = shown;
    },
  });
  return rows;
}

/** Column of a reference like "AB12", from 0. */
function columnOf(reference: string | undefined): number | undefined {
  const letters = /^[A-Z]{1,3}/.exec(reference ?? '')?.[0];
  if (!letters) return undefined;
  return [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}
