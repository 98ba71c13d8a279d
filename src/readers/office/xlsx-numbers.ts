import { SSF } from '@e965/xlsx';
import { BLACK, type Colour, colourOf, isFaint, isTiny, WHITE } from '../reading/visibility.ts';
import { walkXml } from '../text/xml.ts';
import { type DateShape, dateText, shapeOfCode, shapeOfId } from './xlsx-dates.ts';

/** How the cells of a format show numbers. */
export interface NumberFormat {
  readonly date?: DateShape;
  /** In the language of number formats (ECMA-376 part 1, 18.8.31); absent: as it is. */
  readonly code?: string;
  /** Letters in the colour of their cell, or too small to read. */
  readonly isHidden?: boolean;
}

/** Longer codes are no format that anybody wrote. */
const CODE_LENGTH_MAX = 255;

/** The formats of a workbook's cells, by their numbers. */
export function numberFormats(styles: string | undefined): NumberFormat[] {
  const custom = new Map<number, string>();
  const formats: NumberFormat[] = [];
  const fonts: { ink: Colour; points: number }[] = [];
  /** Undefined: a colour that is not known. */
  const fills: (Colour | undefined)[] = [];
  let list = '';
  if (styles === undefined) return formats;
  walkXml(styles, {
    open: (name, attributes) => {
      if (/^(?:fonts|fills|cellXfs|cellStyleXfs|dxfs|borders)$/.test(name)) list = name;
      else if (name === 'numFmt') custom.set(Number(attributes.numFmtId), attributes.formatCode ?? '');
      else if (name === 'font' && list === 'fonts') fonts.push({ ink: BLACK, points: 11 });
      else if (list === 'fonts' && name === 'sz') fonts.at(-1)!.points = Number(attributes.val) || 11;
      else if (list === 'fonts' && name === 'color') fonts.at(-1)!.ink = cellColour(attributes) ?? BLACK;
      else if (name === 'patternFill' && list === 'fills')
        fills.push(attributes.patternType === 'none' ? WHITE : undefined);
      else if (name === 'gradientFill' && list === 'fills') fills.push(undefined);
      else if (name === 'fgColor' && list === 'fills') fills[fills.length - 1] = cellColour(attributes);
      else if (name === 'xf' && list === 'cellXfs') {
        const { ink, points } = fonts[Number(attributes.fontId)] ?? { ink: BLACK, points: 11 };
        const fill = Number(attributes.fillId ?? 0);
        const isHidden = isTiny(points) || isFaint(ink, fill in fills ? fills[fill] : WHITE);
        formats.push({ ...formatOf(Number(attributes.numFmtId), custom), ...(isHidden && { isHidden }) });
      }
    },
  });
  return formats;
}

/** Undefined for one of the workbook's theme, but for those of paper and ink. */
function cellColour({ rgb, theme, indexed, tint }: Readonly<Record<string, string>>): Colour | undefined {
  if (rgb !== undefined) return colourOf(rgb.slice(-6));
  if (tint !== undefined) return undefined;
  if (theme === '0' || indexed === '9' || indexed === '1') return WHITE;
  return theme === '1' || indexed === '8' || indexed === '0' || indexed === '64' ? BLACK : undefined;
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
