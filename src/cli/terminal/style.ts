import { MARK } from '../wording/text.ts';

/** How a text looks in a terminal; plain where it has no colours. */
export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  good(text: string): string;
  bad(text: string): string;
  /** Colours the text between marks, in each line for itself. */
  marked(lines: readonly string[]): string[];
}

const MARKS = new RegExp(`[${MARK.start}${MARK.end}]`, 'g');

/** Sequences of ISO 6429 ("ANSI"), as far as every terminal with colours has them. */
export function styleFor(colours: boolean): Style {
  const paint = (on: number, off: number) => (text: string) =>
    colours && text !== '' ? `\u001b[${on}m${text}\u001b[${off}m` : text;
  const [markOn, markOff] = ['\u001b[1;33m', '\u001b[22;39m'];
  return {
    bold: paint(1, 22),
    dim: paint(2, 22),
    good: paint(32, 39),
    bad: paint(31, 39),
    marked: (lines) => {
      if (!colours) return lines.map((line) => line.replace(MARKS, ''));
      let open = false;
      return lines.map((line) => {
        const begin = open ? markOn : '';
        const painted = line.replace(MARKS, (mark) => {
          open = mark === MARK.start;
          return open ? markOn : markOff;
        });
        return begin + painted + (open ? markOff : '');
      });
    },
  };
}
