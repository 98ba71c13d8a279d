import { walkXml } from '../text/xml.ts';
import type { Report } from './office-content.ts';

/** Longer ones than spreadsheet programs write: each header has 255 characters at most. */
const LENGTH_MAX = 20_000;
/** Codes of fields, fonts, sizes, styles and colours (ECMA-376 part 1, 18.3.1.46), and of the three sections of a line. */
const CODES = /&(?:"[^"]{0,300}"|K(?:[0-9A-F]{6}|\d\d[+-]\d{3})|\d{1,3}|[A-Z])/gi;

/** The texts of a sheet's headers and footers, without page numbers, dates and names of files. */
export function headersOf(sheet: string, report: Report): string[] {
  const end = sheet.lastIndexOf('headerFooter>');
  const start = end < 0 ? -1 : sheet.lastIndexOf('<', sheet.lastIndexOf('headerFooter', end - 1));
  if (start < 0) return [];
  if (end - start > LENGTH_MAX) {
    report('headers', 'limit');
    return [];
  }
  const texts: string[] = [];
  let text: string | undefined;
  walkXml(`<a>${sheet.slice(start, sheet.indexOf('>', end) + 1)}</a>`, {
    open: (name) => {
      text = /^(?:odd|even|first)(?:Header|Footer)$/.test(name) ? '' : undefined;
    },
    text: (more) => {
      if (text !== undefined) text += more;
    },
    close: () => {
      const plain = (text ?? '')
        .split('&&')
        .map((part) => part.replace(CODES, ' '))
        .join('&');
      if (/\p{L}/u.test(plain)) texts.push(plain.replace(/\s+/g, ' ').trim());
      text = undefined;
    },
  });
  return texts;
}
