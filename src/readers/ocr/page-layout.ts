import { inReadingOrder } from '../pdf/columns.ts';
import { bendAt, polynomial, slopeAt, swing } from './line-bend.ts';
import type { Corners, ReadLine, ReadParagraph } from './page-reader.ts';
import type { Region } from './text-regions.ts';

/** A region with what it says. */
export interface WrittenRegion extends Region {
  readonly text: string;
  /** 0..1. */
  readonly confidence: number;
}

/** Of the lower one of two regions, what they have in common where they stand on one line. */
const OVERLAP_MIN = 0.5;
/** Of a line's height: a larger gap, or a change of height, begins a paragraph. */
const GAP_MAX = 0.9;
const HEIGHTS_MAX = 1.5;

/** A region on the page as it would be without its skew. */
interface Levelled extends WrittenRegion {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** Paragraphs of a page in reading order: columns of prose one after the other, tables by their rows. */
export function paragraphsOf(regions: readonly WrittenRegion[]): ReadParagraph[] {
  const rows = rowsOf(levelled(regions));
  const parts: { readonly region: Levelled; readonly from: number; readonly to: number }[] = [];
  let text = '';
  for (const row of rows) {
    if (text !== '') text += '\n';
    for (const [index, region] of row.entries()) {
      if (index > 0) text += ' ';
      parts.push({ region, from: text.length, to: text.length + region.text.length });
      text += region.text;
    }
  }
  const partOf = new Map(
    parts.flatMap((part) => spread(part.from, part.to).map((at) => [at, part] as const)),
  );
  const ranges = inReadingOrder(text, (at) => {
    const part = partOf.get(at);
    if (!part) return undefined;
    const step = (part.region.right - part.region.left) / (part.to - part.from);
    const left = part.region.left + (at - part.from) * step;
    return [left, left + step];
  });
  const lines = ranges.flatMap(({ from, to, shown }): Line[] => {
    const own = parts.filter((part) => part.from >= from && part.to <= to).map(({ region }) => region);
    return own.length === 0 ? [] : [{ regions: own, ...(shown !== undefined && { shown }) }];
  });
  return inParagraphs(lines);
}

const spread = (from: number, to: number): number[] =>
  Array.from({ length: to - from }, (_, index) => from + index);

/** Turns the page back by the angle of most of its writing, and lays a bent one flat. */
function levelled(regions: readonly WrittenRegion[]): Levelled[] {
  const byAngle = regions.toSorted((a, b) => a.angle - b.angle);
  const half = regions.reduce((sum, { width }) => sum + width, 0) / 2;
  let [sum, angle] = [0, 0];
  for (const region of byAngle) {
    sum += region.width;
    angle = region.angle;
    if (sum >= half) break;
  }
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  const upright = regions.map((region) => ({
    ...region,
    x: region.x * cos + region.y * sin,
    y: region.y * cos - region.x * sin,
    angle: region.angle - angle,
  }));
  const sunkAt = sheetOf(upright);
  return upright.map((region, index) => {
    const { x, width, height } = region;
    const y = region.y - sunkAt(x);
    const [left, right, top, bottom] = [x - width / 2, x + width / 2, y - height / 2, y + height / 2];
    return { ...regions[index]!, left, right, top, bottom };
  });
}

/** Places along a line where its slope is taken. */
const PLACES = [-0.75, -0.25, 0.25, 0.75];
/** Of the polynomial of a sheet's slopes from left to right. */
const SLOPE_DEGREE = 2;

/**
 * How much lower than in its middle a sheet is, from left to right, in pixels: the integral of the slopes of all its lines (least
 * squares, by their widths). A sheet without a bent line is flat.
 */
function sheetOf(regions: readonly Region[]): (x: number) => number {
  const ends = regions.flatMap(({ x, width }) => [x - width / 2, x + width / 2]);
  const [from, to] = [Math.min(...ends), Math.max(...ends)];
  const [middle, half] = [(from + to) / 2, (to - from) / 2];
  if (regions.every(({ bend }) => bend === undefined)) return () => 0;
  const slopes = regions.flatMap(({ x, width, angle, bend = [] }) =>
    PLACES.map((place) => ({
      place: (x + (place * width) / 2 - middle) / half,
      across: Math.tan(angle) + slopeAt(bend, place, width),
      weight: width,
    })),
  );
  const integral = polynomial(slopes, SLOPE_DEGREE).map((slope, power) => (half * slope) / (power + 1));
  return (x) => bendAt([0, ...integral], (x - middle) / half);
}

/** Regions that stand beside each other, from left to right; the rows from the top. */
function rowsOf(regions: readonly Levelled[]): Levelled[][] {
  const rows: Levelled[][] = [];
  for (const region of regions.toSorted((a, b) => a.top + a.bottom - b.top - b.bottom)) {
    const row = rows.findLast((one) => one.every((other) => standsBeside(region, other)));
    if (row) row.push(region);
    else rows.push([region]);
  }
  for (const row of rows) row.sort((a, b) => a.left - b.left);
  return rows;
}

function standsBeside(one: Levelled, other: Levelled): boolean {
  const common = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
  const isApart = one.left >= other.right - one.height || other.left >= one.right - one.height;
  return isApart && common >= OVERLAP_MIN * Math.min(one.bottom - one.top, other.bottom - other.top);
}

/** Regions of a line, and what they say as a row of a table. */
interface Line {
  readonly regions: readonly Levelled[];
  readonly shown?: string;
}

function inParagraphs(lines: readonly Line[]): ReadParagraph[] {
  const paragraphs: ReadLine[][] = [];
  let previous: Line | undefined;
  for (const line of lines) {
    const read = { ...lineOf(line.regions), ...(line.shown !== undefined && { text: line.shown }) };
    const isRow = previous?.shown !== undefined && line.shown !== undefined;
    if (previous && (isRow || continues(previous.regions, line.regions))) paragraphs.at(-1)!.push(read);
    else paragraphs.push([read]);
    previous = line;
  }
  return paragraphs;
}

function continues(previous: readonly Levelled[], line: readonly Levelled[]): boolean {
  const heights = [heightOf(previous), heightOf(line)];
  const [small, large] = [Math.min(...heights), Math.max(...heights)];
  const gap = Math.min(...line.map(({ top }) => top)) - Math.max(...previous.map(({ bottom }) => bottom));
  return gap > -large && gap <= GAP_MAX * small && large <= HEIGHTS_MAX * small;
}

const heightOf = (line: readonly Levelled[]): number =>
  line.reduce((sum, { height }) => sum + height, 0) / line.length;

function lineOf(regions: readonly Levelled[]): ReadLine {
  const letters = regions.reduce((sum, { text }) => sum + text.length, 0);
  return {
    text: regions.map(({ text }) => text).join(' '),
    confidence: regions.reduce((sum, { text, confidence }) => sum + text.length * confidence, 0) / letters,
    bbox: around(regions),
  };
}

/** The upright rectangle around regions of the page as it is. */
function around(regions: readonly Region[]): Corners {
  const boxes = regions.map(({ x, y, width, height: straight, angle, bend }) => {
    const height = straight + (bend ? 2 * swing(bend) : 0);
    const [cos, sin] = [Math.abs(Math.cos(angle)), Math.abs(Math.sin(angle))];
    const [across, down] = [(width * cos + height * sin) / 2, (width * sin + height * cos) / 2];
    return { x0: x - across, y0: y - down, x1: x + across, y1: y + down };
  });
  return {
    x0: Math.min(...boxes.map(({ x0 }) => x0)),
    y0: Math.min(...boxes.map(({ y0 }) => y0)),
    x1: Math.max(...boxes.map(({ x1 }) => x1)),
    y1: Math.max(...boxes.map(({ y1 }) => y1)),
  };
}
