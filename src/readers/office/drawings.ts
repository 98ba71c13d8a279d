import { type Relationship, relationships } from '../archive/relationships.ts';
import type { Zip } from '../archive/zip.ts';
import { oneLine } from '../text/outline.ts';
import { walkXml } from '../text/xml.ts';
import type { Report } from './office-content.ts';
import { ParagraphStack } from './paragraph-stack.ts';

/** A chart has as many values as a small sheet. */
const VALUES_MAX = 20_000;

/**
 * The text of what an element of DrawingML refers to: a chart (ECMA-376 part 1, 21.2) or a diagram (21.4). Undefined for other
 * elements.
 */
export function drawingText(
  zip: Zip,
  related: readonly Relationship[],
  name: string,
  attributes: Readonly<Record<string, string>>,
  report: Report,
): string | undefined {
  const id = name === 'chart' ? attributes.id : name === 'relIds' ? attributes.dm : undefined;
  if (id === undefined) return undefined;
  const target = related.find((relationship) => relationship.id === id)?.target;
  const source = target === undefined ? undefined : zip.text(target);
  if (source === undefined) {
    report('charts', 'damaged', 1);
    return undefined;
  }
  return name === 'relIds' ? paragraphsOf(source).join('\n') : chartText(source, report);
}

/** What an author says that a picture or shape shows, for those who do not see it; empty for another element. */
export function pictureWords(
  name: string,
  { descr = '', title = '' }: Readonly<Record<string, string>>,
): string {
  if (name !== 'docPr' && name !== 'cNvPr') return '';
  return [...new Set([title, descr].map(oneLine))].filter((words) => words !== '').join(': ');
}

/** The paragraphs of DrawingML, such as those of text boxes. */
export function paragraphsOf(source: string): string[] {
  const paragraphs: string[] = [];
  const stack = new ParagraphStack((text) => {
    if (text.trim() !== '') paragraphs.push(text.trim());
  });
  let inText = false;
  walkXml(source, {
    skips: (name) => name === 'Fallback',
    open: (name) => {
      inText = name === 't';
      if (name === 'p') stack.openParagraph();
      else if (name === 'br') stack.text('\n');
    },
    text: (text) => {
      if (inText) stack.text(text);
    },
    close: (name) => {
      inText = false;
      if (name === 'p') stack.closeParagraph();
    },
  });
  return paragraphs;
}

/** The text boxes, charts and diagrams of a drawing part, as sheets have them. */
export function drawingTexts(zip: Zip, part: string, report: Report): string[] {
  const source = zip.text(part);
  if (source === undefined) return [];
  const related = relationships(zip, part);
  const texts = paragraphsOf(source);
  walkXml(source, {
    skips: (name) => name === 'Fallback',
    open: (name, attributes) => {
      const words = pictureWords(name, attributes);
      if (words !== '') texts.push(words);
      const text = drawingText(zip, related, name, attributes, report);
      if (text) texts.push(text);
    },
  });
  return texts;
}

interface Series {
  name: string;
  categories: string[];
  values: string[];
}

/** Titles, then a row for each category with the values of all series. */
function chartText(source: string, report: Report): string {
  const series: Series[] = [];
  const path: string[] = [];
  let value = '';
  let values = 0;
  walkXml(source, {
    open: (name) => {
      path.push(name);
      value = '';
      if (name === 'ser') series.push({ name: '', categories: [], values: [] });
    },
    text: (text) => {
      value += text;
    },
    close: (name) => {
      path.pop();
      const current = series.at(-1);
      if (name !== 'v' || !current || !path.includes('ser')) return;
      if (++values > VALUES_MAX) return;
      if (path.includes('tx')) current.name = `${current.name} ${value}`.trim();
      else if (path.includes('cat') || path.includes('xVal')) current.categories.push(value);
      else if (path.includes('val') || path.includes('yVal')) current.values.push(value);
    },
  });
  if (values > VALUES_MAX) report('charts', 'limit', 1);
  const names = series[0]?.categories ?? [];
  const count = series.reduce((most, { values }) => Math.max(most, values.length), names.length);
  const rows = Array.from({ length: count }, (_, at) => {
    const cells = series.map((one) => {
      const value = one.values[at] ?? '';
      return value === '' || one.name === '' ? value : `${one.name}: ${value}`;
    });
    return `| ${[names[at] ?? '', ...cells].filter((cell) => cell !== '').join(' | ')}`;
  });
  return [...paragraphsOf(source), ...rows].join('\n');
}
