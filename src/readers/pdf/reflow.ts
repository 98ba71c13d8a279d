import { withoutControls } from '../text/charset.ts';
import type { OrderedLine } from './columns.ts';
import { isCompound } from './known-words.ts';

/** A line as it stands on its page: its place in the reflowed text, and its range in the text as it was given. */
export interface PlacedLine {
  readonly at: number;
  readonly from: number;
  readonly to: number;
}

/** How PDFium writes a hyphen at the end of a line, also where it has joined the lines, and soft hyphens. */
const HYPHENS = ['\u0002', '\ufffe', '\u00ad'];
// biome-ignore lint/suspicious/noControlCharactersInRegex: PDFium's mark
const HYPHEN_WITHIN = /([\p{L}\p{N}-]{0,100})[\u0002\ufffe](?=([\p{L}\p{N}]{0,100}))/gu;

/** What reads as one line: one of the page, or several that only hyphens break. */
interface Line {
  readonly text: string;
  readonly parts: readonly PlacedLine[];
  /** A row of a table: no line goes on in it. */
  readonly isRow?: boolean;
}

/**
 * Lines to paragraphs: a line that runs to the right edge continues in the next one, a clearly shorter one ends a
 * paragraph. Hyphens that only break a line are taken out.
 *
 * @param ranges the lines in the order in which they are read
 */
export function reflow(text: string, ranges: readonly OrderedLine[]): { text: string; lines: PlacedLine[] } {
  const lines = linesOf(text, ranges);
  const lengths = lines
    .filter((line) => line.text.length > 0)
    .map((line) => line.text.length)
    .sort((a, b) => a - b);
  const usual = lengths[Math.floor(lengths.length * 0.7)] ?? 0;
  const placed: PlacedLine[] = [];
  let out = '';
  for (const [index, line] of lines.entries()) {
    if (line.text === '') {
      if (out !== '' && !out.endsWith('\n\n')) out = `${out.trimEnd()}\n\n`;
      continue;
    }
    for (const part of line.parts) placed.push({ ...part, at: out.length + part.at });
    out += line.text;
    const next = lines[index + 1]?.text ?? '';
    if (next === '') continue;
    if (line.isRow || lines[index + 1]?.isRow) {
      out += '\n';
      continue;
    }
    if (/\p{L}-$/u.test(line.text) && /^\p{Ll}/u.test(next)) {
      out = `${out.slice(0, -1)}${hyphenBetween(line.text, next, text)}`;
    } else if (line.text.length >= usual / 2 && BROKEN.test(line.text) && /^[\p{L}\p{N}]/u.test(next))
      continue;
    else out += line.text.length >= usual * 0.75 ? ' ' : '\n';
  }
  return { text: out.trimEnd(), lines: placed };
}

/** A line that ends with a hyphen right behind a letter or a digit. */
const BROKEN = /[\p{L}\p{N}]-$/u;
/** Words before which a hyphen stands for what both words have, as in "pre- and post-war". */
const CONJUNCTIONS = /^(?:and|or|to|und|oder|bis|sowie|et|ou|e|o|y|u|en|of|och|og|eller|и|или)$/iu;

/**
 * What is between two parts of a word at the end of a line. The hyphen belongs to the word where a digit or a capital letter is beside
 * it, where the word has others, as "state-of-the-art", stands with its hyphen elsewhere in the text, or is made of two known ones.
 */
function hyphenBetween(line: string, next: string, text: string): '' | '-' | '- ' {
  const before = /[\p{L}\p{N}-]{1,100}-$/u.exec(line)?.[0] ?? '';
  const after = /^[\p{L}\p{N}]{1,100}/u.exec(next)?.[0] ?? '';
  if (before === '' || after === '') return '';
  if (CONJUNCTIONS.test(after)) return '- ';
  const first = before.slice(0, -1);
  const isKept =
    /\p{N}$/u.test(first) ||
    /^\p{N}/u.test(after) ||
    (/\p{Ll}$/u.test(first) && /^\p{Lu}/u.test(after)) ||
    /\p{L}-/u.test(first) ||
    text.includes(`${before}${after}`) ||
    isCompound(first, after);
  return isKept ? '-' : '';
}

function linesOf(text: string, ranges: readonly OrderedLine[]): Line[] {
  const lines: Line[] = [];
  let line = '';
  let parts: PlacedLine[] = [];
  let isBroken = false;
  for (const { from, to, shown } of ranges) {
    if (shown !== undefined) {
      if (line !== '') lines.push({ text: line.trim(), parts });
      lines.push({ text: withoutControls(shown), parts: [{ at: 0, from, to }], isRow: true });
      [line, parts, isBroken] = ['', [], false];
      continue;
    }
    const bare = text.slice(from, to);
    const goesOn = HYPHENS.includes(bare.at(-1) ?? '');
    const clean = withAccents(withoutControls(withoutHyphens(bare, text))).replace(/[ \t]+/g, ' ');
    const trimmed = goesOn ? clean.trimStart() : clean.trim();
    if (isBroken) line += hyphenBetween(`${line}-`, trimmed, text);
    isBroken = goesOn;
    if (trimmed !== '') parts.push({ at: line.length, from, to });
    line += trimmed;
    if (goesOn) continue;
    lines.push({ text: line, parts });
    line = '';
    parts = [];
  }
  if (line !== '') lines.push({ text: line.trim(), parts });
  return lines;
}

/** @param all in which a word may stand with its hyphen */
function withoutHyphens(line: string, all: string): string {
  const joined = line.replace(HYPHEN_WITHIN, (_, before: string, after: string) =>
    after === '' ? before : `${before}${hyphenBetween(`${before}-`, after, all)}`,
  );
  return HYPHENS.reduce((rest, hyphen) => rest.replaceAll(hyphen, ''), joined);
}

/** Two dots that were drawn as a sign of their own before the letter that they stand on, as older fonts of TeX have them. */
function withAccents(line: string): string {
  return line.replace(/¨([aeiouyAEIOUY])/g, (_all, letter: string) => `${letter}\u0308`.normalize('NFC'));
}
