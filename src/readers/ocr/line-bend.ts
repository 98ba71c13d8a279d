import type { GreyPicture } from '../picture/grey.ts';
import type { Bend, FoundRegion, Middle, Region } from './text-regions.ts';

/** The detector leaves out the edges of a line: how much higher a line is than what is found of it. */
const LINE_OF_FOUND = 2.9;
/** In heights of the line: of a shorter region one letter that hangs low would be a bend, and a higher one is no line. */
const WIDTH_MIN = 4;
const HEIGHT_MAX = 4;
/** Width of the parts whose middles are looked for, in heights, and rows of a height. */
const PART = 0.5;
const ROWS = 24;
/**
 * Rounds: how far above and below the expected middle letters are taken, in heights, and the degree of the polynomial. The sharper
 * turns of a sheet are followed when the line is found, or its ends would lead to other lines.
 */
const ROUNDS = [
  { reach: 0.7, degree: 2 },
  { reach: 0.65, degree: 2 },
  { reach: 0.6, degree: 2 },
  { reach: 0.55, degree: 2 },
  { reach: 0.5, degree: 4 },
  { reach: 0.45, degree: 4 },
  { reach: 0.45, degree: 4 },
];
/**
 * First guesses: half of how far the middle of a line stands above its ends, in heights. The one that finds the letters closest
 * together counts.
 */
const STARTS = [0, -0.3, 0.3, -0.6, 0.6];
/** What is found of a bent line may be thicker than of a straight one. */
const SCALES = [1, 0.7];
/** Steps of tone that are noise. */
const NOISE = 12;
/**
 * In heights: what a middle leaves the best straight line by, at most. On flat pages, photographed from aside too, .08 by the letters
 * themselves; on bent pages that were misread .13 and more.
 */
const STRAIGHT_MAX = 0.11;
/**
 * Of what the detector found of a line, with the bend that its letters show: the correlation (Pearson's), and the share of the bend
 * (regression). At the ends of a straight line, letters of the next one may be followed: -.5 to .6 and -.3 to .5 where that misread
 * printed lines. Of bent lines that were misread .67 and .15 or more.
 */
const AGREEMENT_MIN = 0.65;
const FOUND_SHARE_MIN = 0.1;
/** Of a page's long lines, those that bend on a bent sheet: at a book's spine, too little for the detector. */
const BENT_SHARE_MIN = 0.5;
/** Height of a line in deviations of its letters' edges from the middle. Of straight lines 5.3 to 8.4, as the detector gives them. */
const DEVIATIONS = 6.8;

/** @param place -1..1 along the width. @returns pixels below the axis */
export function bendAt(bend: Bend, place: number): number {
  return bend.reduceRight((sum, coefficient) => sum * place + coefficient, 0);
}

/** How steep a bend is at a place: pixels down by pixels along. @param width of its line, in pixels */
export function slopeAt(bend: Bend, place: number, width: number): number {
  const steps = bend.slice(1).map((coefficient, index) => (index + 1) * coefficient);
  return (2 * bendAt(steps, place)) / width;
}

/** How far a bend leaves the axis, in pixels. */
export function swing(bend: Bend): number {
  let most = 0;
  for (let place = -1; place <= 1; place += 1 / 16) most = Math.max(most, Math.abs(bendAt(bend, place)));
  return most;
}

/**
 * The regions of bent lines with their bends, and heights without them; those of straight ones as they are. Of lines set close, the ends
 * of a straight one may lead to the next line. So a bend counts where the detector found a part of it, or most lines of the page bend.
 */
export function followed(page: GreyPicture, regions: readonly FoundRegion[]): Region[] {
  const long = regions.filter(isLong);
  const tracks = new Map(long.map((region) => [region, trackOf(page, region)]));
  const bent = [...tracks.values()].filter((track) => track !== undefined).length;
  const isBentSheet = bent > BENT_SHARE_MIN * long.length;
  return regions.map((found) => {
    const { thickness: _, middles, ...region } = found;
    const track = tracks.get(found);
    return track && (isBentSheet || isFound(track.bend, middles)) ? along(region, track) : region;
  });
}

const lineOf = ({ thickness }: FoundRegion): number => LINE_OF_FOUND * thickness;

const isLong = (region: FoundRegion): boolean =>
  region.width >= WIDTH_MIN * lineOf(region) && region.height <= HEIGHT_MAX * lineOf(region);

/**
 * Where the letters of a bent line lead; undefined for a straight one. What the detector finds of a bent line leans towards its chord. So
 * the middle is followed on the page, by the steps of tone along the line, which letters have and rules have not: the mean of each part
 * near the expected middle, and a polynomial through the means (mean shift; Cheng, 1995), from several guesses.
 */
function trackOf(page: GreyPicture, region: FoundRegion): Track | undefined {
  const line = lineOf(region);
  const half = (region.height + line) / 2;
  const parts = letterEdges(
    page,
    region,
    half,
    Math.round(region.width / (PART * line)),
    Math.round((2 * half * ROWS) / line),
  );
  let best: Track | undefined;
  for (const start of STARTS)
    for (const scale of SCALES) {
      const track = tracked(parts, [-start * line, 0, 2 * start * line], half, scale * line);
      if (track && track.scatter < (best?.scatter ?? Infinity)) best = track;
      // Most lines are straight, and seen to be at the first guess.
      if (!best || swing(curved(best.bend)) < STRAIGHT_MAX * line) return undefined;
    }
  return best;
}

function along(region: Region, { bend, deviation }: Track): Region {
  const [mean] = curved(bend) as [number];
  const below = bend[0]! - mean;
  return {
    ...region,
    x: region.x - below * Math.sin(region.angle),
    y: region.y + below * Math.cos(region.angle),
    height: DEVIATIONS * deviation,
    bend: [mean, ...bend.slice(1)],
  };
}

/** A bend without the straight line that is nearest to it (least squares over its width). */
function curved(bend: Bend): Bend {
  const [, , second = 0, third = 0, fourth = 0] = bend;
  return [-second / 3 - fourth / 5, -0.6 * third, second, third, fourth];
}

/** Whether the middles of what the detector found leave their straight line as the bend does. */
function isFound(bend: Bend, middles: readonly Middle[]): boolean {
  const curveOf = (points: readonly Middle[]): number[] => {
    const straight = polynomial(points, 1);
    return points.map(({ place, across }) => across - bendAt(straight, place));
  };
  const found = curveOf(middles);
  const followed = curveOf(middles.map((middle) => ({ ...middle, across: bendAt(bend, middle.place) })));
  const sum = (one: readonly number[], other: readonly number[]): number =>
    middles.reduce((all, { weight }, at) => all + weight * one[at]! * other[at]!, 0);
  const [common, all] = [sum(found, followed), sum(followed, followed)];
  return common >= FOUND_SHARE_MIN * all && common >= AGREEMENT_MIN * Math.sqrt(sum(found, found) * all);
}

interface Track {
  readonly bend: Bend;
  /** Of the edges of letters near it, in pixels, and as a share of how far they were taken. */
  readonly deviation: number;
  readonly scatter: number;
}

/** The middle to which a first guess leads. Undefined where too few parts have letters. */
function tracked(parts: readonly Float32Array[], start: Bend, half: number, line: number): Track | undefined {
  let [bend, deviation, scatter] = [start, 0, 0];
  for (const { reach, degree } of ROUNDS) {
    const points: Middle[] = [];
    let [squares, all] = [0, 0];
    for (const [index, part] of parts.entries()) {
      const place = (2 * index + 1) / parts.length - 1;
      const expected = bendAt(bend, place);
      let [sum, weight] = [0, 0];
      for (const [row, edges] of part.entries()) {
        const off = ((2 * row + 1) / part.length - 1) * half - expected;
        if (Math.abs(off) > reach * line) continue;
        weight += edges;
        sum += edges * off;
        squares += edges * off * off;
      }
      all += weight;
      if (weight > 0) points.push({ place, across: expected + sum / weight, weight });
    }
    if (points.length <= degree + 1) return undefined;
    bend = polynomial(points, degree);
    deviation = Math.sqrt(squares / all);
    scatter = deviation / (reach * line);
  }
  return { bend, deviation, scatter };
}

/** Sums of the steps of tone along a region, by parts of its width and by rows from `half` above its axis to as much below. */
function letterEdges(
  { grey, width, height }: GreyPicture,
  region: Region,
  half: number,
  count: number,
  rows: number,
): Float32Array[] {
  const parts = Array.from({ length: count }, () => new Float32Array(rows));
  const [cos, sin] = [Math.cos(region.angle), Math.sin(region.angle)];
  const [wide, high] = [Math.round(region.width), Math.round(2 * half)];
  for (let column = 0; column < wide; column++) {
    const part = parts[Math.floor((column * count) / wide)]!;
    const along = column + 0.5 - region.width / 2;
    for (let row = 0; row < high; row++) {
      const across = row + 0.5 - half;
      const x = Math.floor(region.x + along * cos - across * sin);
      const y = Math.floor(region.y + along * sin + across * cos);
      if (x < 1 || y < 0 || x + 1 >= width || y >= height) continue;
      const step = Math.abs(grey[y * width + x + 1]! - grey[y * width + x - 1]!);
      if (step > NOISE) part[Math.floor((row * rows) / high)]! += step;
    }
  }
  return parts;
}

/** Weighted least squares, by the normal equations (Gauss and Jordan). */
export function polynomial(points: readonly Middle[], degree: number): Bend {
  const size = degree + 1;
  const rows = Array.from({ length: size }, () => new Float64Array(size + 1));
  for (const { place, across, weight } of points)
    for (const [power, row] of rows.entries()) {
      for (let other = 0; other < size; other++) row[other]! += weight * place ** (power + other);
      row[size]! += weight * place ** power * across;
    }
  for (const [at, row] of rows.entries())
    for (const [other, changed] of rows.entries()) {
      if (other === at) continue;
      const factor = changed[at]! / row[at]!;
      for (let column = at; column <= size; column++) changed[column]! -= factor * row[column]!;
    }
  return rows.map((row, at) => row[size]! / row[at]!);
}
