import { read, set_cptable, type WorkBook } from '@e965/xlsx';
import * as codePages from '@e965/xlsx/dist/cpexcel.full.mjs';
import type { Block } from '@farthing/protocol/document';
import { packageType } from '../archive/package-type.ts';
import { contentReader } from '../office/office.ts';
import type { OfficeContent, Report } from '../office/office-content.ts';
import { cellBudget } from '../office/xlsx.ts';
import { formatOfCode, numberText } from '../office/xlsx-numbers.ts';
import type { FormatReader, MakeReader } from '../reading/format-reader.ts';
import { corrupt, encrypted } from '../reading/refusal.ts';
import type { SourceFile } from '../reading/source-file.ts';
import { withoutControls } from '../text/charset.ts';
import { oneLine, shorten } from '../text/outline.ts';
import { tableText } from '../text/table.ts';
import { hasStream } from './compound.ts';

set_cptable(codePages);

const COLUMNS_MAX = 1_000;

/** Excel 95 to 2003: sheets with numbers as shown, and comments. Not read: pictures, charts, text boxes. */
export const xls: MakeReader = (mediaType) =>
  sheetsReader(mediaType, (file) => hasStream(file, ['Workbook', 'Book']));

/** The binary form of XLSX, read as the older one. */
export const xlsb: MakeReader = (mediaType) =>
  sheetsReader(mediaType, (file) => file.find(packageType) === mediaType);

function sheetsReader(mediaType: string, sniff: FormatReader['sniff']): FormatReader {
  return contentReader(mediaType, { sniff, read: readSheets });
}

function readSheets({ bytes }: SourceFile, report: Report): OfficeContent {
  const book = workbookOf(bytes);
  const is1904 = book.Workbook?.WBProps?.date1904 === true;
  const take = cellBudget();
  const blocks: Block[] = [];
  for (const [index, name] of book.SheetNames.entries()) {
    const cells = (book.Sheets[name]?.['!data'] ?? []) as readonly (readonly (Cell | undefined)[])[];
    const comments: string[] = [];
    const rows = cells.map((row, at) =>
      (row ?? []).flatMap((cell, column) => {
        const text = cell ? cellText(cell, is1904, report) : '';
        if (column >= COLUMNS_MAX) {
          if (text !== '') report('text', 'limit', 1);
          return [];
        }
        take(text.length);
        for (const { a, t } of cell?.c ?? [])
          comments.push(`Comment on row ${at + 1}, column ${column + 1}${a ? ` by ${a}` : ''}: ${t ?? ''}`);
        return text;
      }),
    );
    const text = withoutControls([tableText(rows), ...comments].filter(Boolean).join('\n\n'));
    const hidden = book.Workbook?.Sheets?.[index]?.Hidden ? ' (hidden sheet)' : '';
    if (text !== '')
      blocks.push({ text, page: index + 1, heading: `${shorten(name, 200, report)}${hidden}` });
  }
  report('pictures', 'unsupported');
  report('charts', 'unsupported');
  const title = oneLine(book.Props?.Title ?? '');
  return {
    blocks,
    pictures: [],
    pages: book.SheetNames.length,
    pageKind: 'sheet',
    ...(title !== '' && { title }),
  };
}

interface Cell {
  readonly t?: string;
  readonly v?: unknown;
  readonly w?: string;
  /** The number format. */
  readonly z?: unknown;
  readonly f?: string;
  readonly c?: readonly { readonly a?: string; readonly t?: string }[];
}

function cellText({ t, v, w, z, f }: Cell, is1904: boolean, report: Report): string {
  if (v === undefined || v === null) {
    if (f === undefined) return '';
    report('formulas', 'no_value', 1);
    return `=${f}`;
  }
  if (t === 'n') return numberText(`${v}`, typeof z === 'string' ? formatOfCode(z) : {}, is1904);
  return t === 'e' ? (w ?? '') : `${v}`;
}

function workbookOf(bytes: Uint8Array): WorkBook {
  try {
    return read(bytes, { type: 'array', dense: true, cellNF: true, cellHTML: false, cellText: false });
  } catch (error) {
    if (/password|encrypt/i.test(String(error))) throw encrypted('workbook');
    throw corrupt('it is no workbook that can be read');
  }
}
