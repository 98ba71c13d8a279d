import type { Block } from '../../domain/document.ts';
import type { Zip } from '../archive/zip.ts';
import type { EmbeddedPicture } from '../picture/embedded.ts';
import { corrupt, tooLarge } from '../reading/refusal.ts';
import { withoutControls } from '../text/charset.ts';
import { shorten } from '../text/outline.ts';
import { tableText } from '../text/table.ts';
import { walkXml } from '../text/xml.ts';
import { officeReader } from './office.ts';
import { type OfficeContent, picturesOf, relationships, titleIn } from './office-content.ts';
import { dateShapes, dateText } from './xlsx-dates.ts';

export const xlsx = officeReader(readXlsx);

const MAIN = 'xl/workbook.xml';
const COLUMNS_MAX = 1_000;
const CELLS_MAX = 2_000_000;
/** Of all cells together: many cells can show one long text that is stored once. */
const CHARACTERS_MAX = 50_000_000;

/** SpreadsheetML (ECMA-376 part 1, 18): each sheet as a table below its name. Numbers are as stored, except dates and times. */
function readXlsx(zip: Zip): OfficeContent {
  const source = zip.text(MAIN);
  if (source === undefined) throw corrupt('the list of its sheets is missing');
  const targets = relationships(zip, MAIN);
  const sheets: { name: string; part: string }[] = [];
  let is1904 = false;
  walkXml(source, {
    open: (tag, { name = '', id, date1904 }) => {
      if (tag === 'workbookPr') is1904 = date1904 === '1' || date1904 === 'true';
      const part = tag === 'sheet' && id !== undefined ? targets.get(id) : undefined;
      if (part) sheets.push({ name: shorten(name, 200), part });
    },
  });
  const shared = sharedStrings(zip.text('xl/sharedStrings.xml'));
  const shapes = dateShapes(zip.text('xl/styles.xml'));
  const shownAs = (value: string, style: string | undefined): string => {
    const shape = shapes[Number(style ?? 0)];
    return (shape && dateText(value, shape, is1904)) ?? value;
  };
  const blocks: Block[] = [];
  const pictures: EmbeddedPicture[] = [];
  const budget = { cells: CELLS_MAX, characters: CHARACTERS_MAX };
  const take = (characters: number): void => {
    if (--budget.cells < 0)
      throw tooLarge(`Send spreadsheets of at most ${CELLS_MAX} cells.`, { limit_cells: CELLS_MAX });
    budget.characters -= characters;
    if (budget.characters < 0)
      throw tooLarge(`Send spreadsheets of at most ${CHARACTERS_MAX} characters in their cells.`, {
        limit_characters: CHARACTERS_MAX,
      });
  };
  for (const [index, { name, part }] of sheets.entries()) {
    const rows = readSheet(zip.text(part) ?? '', shared, shownAs, take);
    const text = withoutControls(tableText(rows));
    if (text !== '') blocks.push({ text, page: index + 1, heading: name });
    const drawings = [...relationships(zip, part).values()].filter((target) =>
      /drawings\/[^/]+\.xml$/.test(target),
    );
    const media = drawings.flatMap((drawing) => [...relationships(zip, drawing).values()]);
    pictures.push(...picturesOf(zip, media, index + 1));
  }
  const title = titleIn(zip.text('docProps/core.xml'));
  return { blocks, pictures, pages: sheets.length, pageKind: 'sheet', ...(title !== undefined && { title }) };
}

function sharedStrings(source: string | undefined): string[] {
  const strings: string[] = [];
  let [text, inText] = ['', false];
  if (source === undefined) return strings;
  walkXml(source, {
    open: (name) => {
      if (name === 'si') text = '';
      inText = name === 't';
    },
    text: (more) => {
      if (inText) text += more;
    },
    close: (name) => {
      inText = false;
      if (name === 'si') strings.push(text);
    },
  });
  return strings;
}

function readSheet(
  source: string,
  shared: readonly string[],
  shownAs: (value: string, style: string | undefined) => string,
  take: (characters: number) => void,
): string[][] {
  const rows: string[][] = [];
  let [column, type, value, inValue] = [0, '', '', false];
  let style: string | undefined;
  if (source === '') return rows;
  walkXml(source, {
    open: (name, attributes) => {
      if (name === 'row') rows.push([]);
      else if (name === 'c') {
        column = columnOf(attributes.r) ?? rows.at(-1)?.length ?? 0;
        [type, value, style] = [attributes.t ?? '', '', attributes.s];
      }
      inValue = name === 'v' || name === 't';
    },
    text: (text) => {
      if (inValue) value += text;
    },
    close: (name) => {
      inValue = false;
      const row = rows.at(-1);
      if (name !== 'c' || !row || column >= COLUMNS_MAX) return;
      while (row.length < column) row.push('');
      let shown = value;
      if (type === 's') shown = shared[Number(value)] ?? '';
      else if (type === 'b') shown = value === '1' ? 'true' : 'false';
      else if (type === '' || type === 'n') shown = shownAs(value, style);
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
