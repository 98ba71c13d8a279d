import { withoutControls } from '../text/charset.ts';

/** A line as it stands on its page: its place in the reflowed text, and its range in the text as it was given. */
export interface PlacedLine {
  readonly at: number;
  readonly from: number;
  readonly to: number;
}

/** How PDFium writes a hyphen at the end of a line, and soft hyphens. */
const HYPHENS = ['\u0002', '\ufffe', '\u00ad'];

/** What reads as one line: one of the page, or several that only hyphens break. */
interface Line {
  readonly text: string;
  readonly parts: readonly PlacedLine[];
}

/**
 * Lines to paragraphs: a line that runs to the right edge continues in the next one, a clearly shorter one ends a
 * paragraph. Hyphens that only break a line are taken out.
 */
export function reflow(text: string): { text: string; lines: PlacedLine[] } {
  const lines = linesOf(text);
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
    if (/\p{L}-$/u.test(line.text) && /^\p{Ll}/u.test(next)) {
      if (!keepsHyphen(line.text, next, text)) out = out.slice(0, -1);
    } else out += line.text.length >= usual * 0.75 ? ' ' : '\n';
  }
  return { text: out.trimEnd(), lines: placed };
}

/**
 * Whether a hyphen at the end of a line belongs to its word: the word has others, as "state-of-the-art", or stands with its hyphen
 * elsewhere in the text.
 */
function keepsHyphen(line: string, next: string, text: string): boolean {
  const before = /[\p{L}\p{N}-]{1,100}-$/u.exec(line)?.[0] ?? '';
  const after = /^[\p{L}\p{N}]{1,100}/u.exec(next)?.[0] ?? '';
  return /\p{L}-/u.test(before.slice(0, -1)) || (before !== '' && text.includes(`${before}${after}`));
}

function linesOf(text: string): Line[] {
  const lines: Line[] = [];
  let line = '';
  let parts: PlacedLine[] = [];
  let from = 0;
  let isBroken = false;
  for (const raw of text.split('\n')) {
    const bare = raw.endsWith('\r') ? raw.slice(0, -1) : raw;
    const goesOn = HYPHENS.includes(bare.at(-1) ?? '');
    const clean = withoutControls(withoutHyphens(bare)).replace(/[ \t]+/g, ' ');
    const trimmed = goesOn ? clean.trimStart() : clean.trim();
    if (isBroken && keepsHyphen(`${line}-`, trimmed, text)) line += '-';
    isBroken = goesOn;
    if (trimmed !== '') parts.push({ at: line.length, from, to: from + bare.length });
    line += trimmed;
    from += raw.length + 1;
    if (goesOn) continue;
    lines.push({ text: line, parts });
    line = '';
    parts = [];
  }
  if (line !== '') lines.push({ text: line.trim(), parts });
  return lines;
}

function withoutHyphens(text: string): string {
  return HYPHENS.reduce((rest, hyphen) => rest.replaceAll(hyphen, ''), text);
}
