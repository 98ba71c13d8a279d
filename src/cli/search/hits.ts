import type { Hit } from '@farthing/client';
import { factsOf } from '@farthing/protocol/schema/facts';
import { SHOWN_FIELDS } from '@farthing/protocol/schema/shown-fields';
import { looksAlike } from '@farthing/protocol/search';
import { VOICE } from '../terminal/figures.ts';
import type { Terminal } from '../terminal/io.ts';
import { styleFor } from '../terminal/style.ts';
import { clean, clip, clipName, MARK, widthOf, wrap } from '../wording/text.ts';
import { place } from './place.ts';

/** Wider lines are hard to read. */
const COLUMNS_MAX = 100;
/** A narrower terminal shows confidence on its own line, and one more line of the snippet. */
const WIDE_COLUMNS = 80;
const BAR_CELLS = 5;

/** Words for probabilities, each with its lower bound. */
const LIKELIHOODS = [
  [0.85, 'very likely'],
  [0.6, 'likely'],
  [0.35, 'possible'],
  [0, 'unlikely'],
] as const;

/** Hits for a person at a terminal: file and place, how likely, and the passage with the words that were looked for. */
export function hitList(hits: readonly Hit[], terminal: Terminal): string {
  const digits = String(hits.length).length;
  return hits
    .map((hit, index) => hitText(hit, `${String(index + 1).padStart(digits)}  `, terminal))
    .join('\n');
}

function hitText(hit: Hit, number: string, { columns, colours }: Terminal): string {
  const style = styleFor(colours);
  const isWide = columns >= WIDE_COLUMNS;
  const width = Math.max(20, Math.min(columns - 1, COLUMNS_MAX));
  const inner = width - number.length;
  const indent = ' '.repeat(number.length);
  const word = likelihood(hit.confidence);
  // A picture that is hardly the same may be much alike.
  const likely =
    word === 'unlikely' && looksAlike(hit) ? `${bar(hit.likeness!)} alike` : `${bar(hit.confidence)} ${word}`;
  const room = isWide ? inner - widthOf(likely) - 2 : inner;
  const where = clip(clean(place(hit.locator)), Math.floor(room / 2));
  const names = [hit.item.name, ...(hit.item.aliases ?? [])].join(' = ');
  const name = clipName(clean(names), Math.max(8, room - widthOf(where) - 2));
  const title = [style.bold(name), where].filter(Boolean).join('  ');
  const used = widthOf(name) + (where === '' ? 0 : widthOf(where) + 2);
  const paint = word === 'unlikely' ? style.dim : hit.confidence >= LIKELIHOODS[1][0] ? style.good : String;
  const head = isWide
    ? [`${number}${title}${' '.repeat(Math.max(2, inner - used - widthOf(likely)))}${paint(likely)}`]
    : [`${number}${title}`, `${indent}${paint(likely)}`];
  // A hit by its file's name says no more than its title.
  const passage = hit.snippet === hit.item.name ? '' : markedSnippet(hit);
  const short = passage === '' ? [] : style.marked(wrap(passage, inner, isWide ? 2 : 3));
  const lines = hit.text === undefined ? short : wholeText(hit.text, inner);
  for (const other of hit.also ?? [])
    lines.push(...style.marked(wrap(`· ${markedSnippet(other)}`, inner, 1)));
  const facts = factsOf(SHOWN_FIELDS.hit, hit, 'terminal', VOICE);
  if (facts.length > 0)
    lines.unshift(style.dim(clip(clean(facts.map(({ value }) => value).join(', ')), inner)));
  return [...head, ...lines.map((line) => indent + line), ''].join('\n');
}

/** A whole text, its passages in lines of their own. */
function wholeText(text: string, columns: number): string[] {
  return text.split('\n').flatMap((passage) => wrap(clean(passage), columns, Number.POSITIVE_INFINITY));
}

/** `▰▰▰▱▱` */
function bar(confidence: number): string {
  const full = Math.round(confidence * BAR_CELLS);
  return '▰'.repeat(full) + '▱'.repeat(BAR_CELLS - full);
}

export function likelihood(confidence: number): string {
  return LIKELIHOODS.find(([from]) => confidence >= from)![1];
}

/** The snippet in one line, with marks around the words of the query. */
function markedSnippet({ snippet = '', highlights = [] }: Pick<Hit, 'snippet' | 'highlights'>): string {
  let [marked, at] = ['', 0];
  for (const [start, end] of highlights) {
    marked += plain(snippet.slice(at, start)) + MARK.start + plain(snippet.slice(start, end)) + MARK.end;
    at = end;
  }
  return (marked + plain(snippet.slice(at))).replace(/ +/g, ' ').trim();
}

/** Like `clean`, but keeps the spaces at both ends. */
function plain(text: string): string {
  return clean(`.${text}.`).slice(1, -1);
}

/** Hits for another program without `--json`: a line each, its columns apart by tabs. */
export function hitLines(hits: readonly Hit[]): string {
  return hits
    .map(({ item, locator, confidence, snippet = '', text = snippet }) =>
      [item.name, place(locator), confidence.toFixed(2), text].map(clean).join('\t'),
    )
    .map((line) => `${line}\n`)
    .join('');
}
