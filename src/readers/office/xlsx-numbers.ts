import { SSF } from '@e965/xlsx';
import { walkXml } from '../text/xml.ts';
import { type DateShape, dateText, shapeOfCode, shapeOfId } from './xlsx-dates.ts';

/** How the cells of a format show numbers. */
export interface NumberFormat {
  readonly date?: DateShape;
  /** In the language of number formats (ECMA-376 part 1, 18.8.31); absent: as it is. */
  readonly code?: string;
}

/** Longer codes are no format that anybody wrote. */
const CODE_LENGTH_MAX = 255;

/** The formats of a workbook's cells, by their numbers. */
export function numberFormats(styles: string | undefined): NumberFormat[] {
  const custom = new Map<number, string>();
  const formats: NumberFormat[] = [];
  let inCells = false;
  if (styles === undefined) return formats;
  walkXml(styles, {
    open: (name, { numFmtId, formatCode = '' }) => {
      if (name === 'cellXfs') inCells = true;
      else if (name === 'numFmt') custom.set(Number(numFmtId), formatCode);
      else if (name === 'xf' && inCells) formats.push(formatOf(Number(numFmtId), custom));
    },
    close: (name) => {
      if (name === 'cellXfs') inCells = false;
    },
  });
  return formats;
}

function formatOf(id: number, custom: ReadonlyMap<number, string>): NumberFormat {
  const code = custom.get(id) ?? (SSF.get_table() as Record<number, string>)[id];
  if (code === undefined) return {};
  const date = shapeOfId(id);
  return custom.has(id) || date === undefined ? formatOfCode(code) : { date };
}

/** How a format of this code shows numbers. */
export function formatOfCode(code: string): NumberFormat {
  const date = shapeOfCode(code);
  return date === undefined ? { code } : { date };
}

/** A number as its cell shows it; dates and times in ISO 8601. */
export function numberText(value: string, { date, code }: NumberFormat, is1904: boolean): string {
  const number = Number(value);
  if (value.trim() === '' || !Number.isFinite(number)) return value;
  const shown = date && dateText(value, date, is1904);
  if (shown !== undefined) return shown;
  // Sums in binary end in digits that no program shows.
  const plain = /^-?\d+$/.test(value) ? value : `${Number(number.toPrecision(15))}`;
  if (code === undefined || /^(general|@)$/i.test(code) || code.length > CODE_LENGTH_MAX) return plain;
  try {
    return SSF.format(code, number).replace(/\s+/g, ' ').trim();
  } catch {
    return plain;
  }
}
