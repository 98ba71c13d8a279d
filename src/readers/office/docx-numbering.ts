import { shorten } from '../text/outline.ts';
import { walkXml } from '../text/xml.ts';
import type { Report } from './office-content.ts';

interface Level {
  start: number;
  format: string;
  /** With %1 to %9 for the numbers of the levels. */
  text: string;
}

/** As many as a document may have (ECMA-376 part 1, 17.9.6). */
const LEVELS_MAX = 9;
const LABEL_LENGTH_MAX = 100;

/** The numbers of a document's lists and headings (ECMA-376 part 1, 17.9). They are counted: the text does not hold them. */
export class Numbering {
  readonly #report: Report;
  readonly #lists = new Map<string, Level[]>();
  /** By the number of a list: its definition, and where it starts anew. */
  readonly #instances = new Map<string, { list: string; starts: Map<number, number> }>();
  readonly #counts = new Map<string, number[]>();
  readonly #begun = new Set<string>();

  constructor(source: string | undefined, report: Report) {
    this.#report = report;
    if (source !== undefined) this.#parse(source);
  }

  /** The label of the next paragraph of a list, such as "2.3"; empty for a bullet and an unknown list. */
  next(id: string, level: number): string {
    const instance = this.#instances.get(id);
    const levels = instance && this.#lists.get(instance.list);
    const own = levels?.[level];
    if (!instance || !levels || !own) return '';
    const counts = this.#counts.get(instance.list) ?? [];
    this.#counts.set(instance.list, counts);
    if (!this.#begun.has(id)) {
      this.#begun.add(id);
      for (const [at, start] of instance.starts) counts[at] = start - 1;
    }
    counts[level] = (counts[level] ?? own.start - 1) + 1;
    counts.length = level + 1;
    if (own.format === 'bullet' || own.format === 'none') return '';
    const label = own.text.replace(/%([1-9])/g, (_, digit: string) => {
      const at = Number(digit) - 1;
      return numeral(counts[at] ?? levels[at]?.start ?? 1, levels[at]?.format ?? 'decimal');
    });
    return shorten(label, LABEL_LENGTH_MAX, this.#report);
  }

  #parse(source: string): void {
    let levels: Level[] = [];
    let level: Level | undefined;
    let instance: { list: string; starts: Map<number, number> } | undefined;
    let overridden = 0;
    walkXml(source, {
      open: (name, { val = '', ilvl, abstractNumId, numId }) => {
        if (name === 'abstractNum') {
          levels = [];
          this.#lists.set(abstractNumId ?? '', levels);
        } else if (name === 'lvl') {
          const at = Number(ilvl);
          level = { start: 1, format: 'decimal', text: '' };
          if (!instance && at >= 0 && at < LEVELS_MAX) levels[at] = level;
        } else if (name === 'start' && level) level.start = Number(val) || 0;
        else if (name === 'numFmt' && level) level.format = val;
        else if (name === 'lvlText' && level) level.text = val;
        else if (name === 'num') {
          instance = { list: '', starts: new Map() };
          this.#instances.set(numId ?? '', instance);
        } else if (name === 'abstractNumId' && instance) instance.list = val;
        else if (name === 'lvlOverride') overridden = Number(ilvl);
        else if (name === 'startOverride' && instance && overridden >= 0 && overridden < LEVELS_MAX)
          instance.starts.set(overridden, Number(val) || 0);
      },
      close: (name) => {
        if (name === 'lvl') level = undefined;
        else if (name === 'num') instance = undefined;
      },
    });
  }
}

const ROMAN: readonly (readonly [number, string])[] = [
  [1000, 'm'],
  [900, 'cm'],
  [500, 'd'],
  [400, 'cd'],
  [100, 'c'],
  [90, 'xc'],
  [50, 'l'],
  [40, 'xl'],
  [10, 'x'],
  [9, 'ix'],
  [5, 'v'],
  [4, 'iv'],
  [1, 'i'],
];

function numeral(value: number, format: string): string {
  if (value < 1 || value > 3999) return `${value}`;
  if (format === 'lowerRoman') return roman(value);
  if (format === 'upperRoman') return roman(value).toUpperCase();
  // After z come aa, bb and so on.
  const letters = String.fromCharCode(97 + ((value - 1) % 26)).repeat(Math.ceil(value / 26));
  if (format === 'lowerLetter') return letters;
  if (format === 'upperLetter') return letters.toUpperCase();
  return format === 'decimalZero' && value < 10 ? `0${value}` : `${value}`;
}

function roman(value: number): string {
  let [rest, out] = [value, ''];
  for (const [worth, digits] of ROMAN)
    while (rest >= worth) {
      out += digits;
      rest -= worth;
    }
  return out;
}
