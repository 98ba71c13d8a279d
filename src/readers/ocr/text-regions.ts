/**
 * How the middle of a line leaves the axis of its region: a polynomial of the place along the width, -1 at its left end and 1 at its
 * right. Coefficients from that of the constant on, in pixels, positive below the axis.
 */
export type Bend = readonly number[];

/** Where a line of writing stands: a rectangle that may be turned, in pixels. */
export interface Region {
  readonly x: number;
  readonly y: number;
  /** Along the writing, and across it. */
  readonly width: number;
  readonly height: number;
  /** Of the axis of the width, in radians clockwise from the right; at most a quarter of a half turn. */
  readonly angle: number;
  /** Absent for a straight line. */
  readonly bend?: Bend;
}

/** A region as the detector gives it: around all of a bent line. */
export interface FoundRegion extends Region {
  /** Mean height of what was found of the line, before the region grew. */
  readonly thickness: number;
  /** Middles of what was found, by columns of pixels. */
  readonly middles: readonly Middle[];
}

/** A middle of a part of a line. */
export interface Middle {
  /** Along the width, -1..1. */
  readonly place: number;
  /** Below the axis, in pixels. */
  readonly across: number;
  /** How much it counts: letters, or pixels. */
  readonly weight: number;
}

/** One float a pixel: how likely it belongs to writing. */
export interface Likelihoods {
  readonly values: Float32Array;
  readonly width: number;
  readonly height: number;
}

/**
 * Thresholds of a pixel and of a region, and by how much a region grows: the detector is trained on shrunk regions (Liao et al.,
 * Real-time Scene Text Detection with Differentiable Binarization, 2019; PaddleOCR's `DBPostProcess` has these values).
 */
const PIXEL_MIN = 0.3;
const REGION_MIN = 0.5;
const GROWTH = 1.6;
/** Shorter sides are dirt. */
const SIDE_MIN = 3;

/** Sums of the heights of pixels, and how many there are, by columns. */
type Columns = Map<number, { sum: number; count: number }>;

type Point = readonly [x: number, y: number];

/** The regions of writing of a detector's answer, from the top. */
export function textRegions({ values, width, height }: Likelihoods): FoundRegion[] {
  const seen = new Uint8Array(values.length);
  const stack = new Int32Array(values.length);
  const regions: FoundRegion[] = [];
  for (let start = 0; start < values.length; start++) {
    if (seen[start] || values[start]! < PIXEL_MIN) continue;
    const { edge, columns, likelihood, count } = component(values, width, height, start, seen, stack);
    if (likelihood < REGION_MIN) continue;
    const tight = smallestRectangle(convexHull(edge));
    if (Math.min(tight.width, tight.height) < SIDE_MIN) continue;
    const by = (GROWTH * tight.width * tight.height) / (2 * (tight.width + tight.height));
    const thickness = count / tight.width;
    const region = { ...tight, width: tight.width + 2 * by, height: tight.height + 2 * by };
    regions.push({ ...region, thickness, middles: middlesOf(columns, region) });
  }
  return regions;
}

/** Pixels that hang together, by the ends of their rows. */
function component(
  values: Float32Array,
  width: number,
  height: number,
  start: number,
  seen: Uint8Array,
  stack: Int32Array,
): { edge: Point[]; columns: Columns; likelihood: number; count: number } {
  const ends = new Map<number, [number, number]>();
  const columns: Columns = new Map();
  let [top, count, sum] = [0, 0, 0];
  stack[top++] = start;
  seen[start] = 1;
  while (top > 0) {
    const at = stack[--top]!;
    const [x, y] = [at % width, Math.floor(at / width)];
    sum += values[at]!;
    count += 1;
    const column = columns.get(x);
    if (column) {
      column.sum += y;
      column.count += 1;
    } else columns.set(x, { sum: y, count: 1 });
    const row = ends.get(y);
    if (!row) ends.set(y, [x, x]);
    else if (x < row[0]) row[0] = x;
    else if (x > row[1]) row[1] = x;
    for (let below = Math.max(0, y - 1); below <= Math.min(height - 1, y + 1); below++)
      for (let beside = Math.max(0, x - 1); beside <= Math.min(width - 1, x + 1); beside++) {
        const next = below * width + beside;
        if (seen[next] || values[next]! < PIXEL_MIN) continue;
        seen[next] = 1;
        stack[top++] = next;
      }
  }
  // The corners of the pixels at the ends.
  const edge = [...ends].flatMap(([y, [from, to]]): Point[] => [
    [from, y],
    [from, y + 1],
    [to + 1, y],
    [to + 1, y + 1],
  ]);
  return { edge, columns, likelihood: sum / count, count };
}

function middlesOf(columns: Columns, { x, y, width, angle }: Region): Middle[] {
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  return Array.from(columns, ([column, { sum, count }]) => {
    const [right, down] = [column + 0.5 - x, sum / count + 0.5 - y];
    const place = (2 * (right * cos + down * sin)) / width;
    return { place, across: down * cos - right * sin, weight: count };
  });
}

/** Andrew's monotone chain. */
function convexHull(points: Point[]): Point[] {
  points.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const half = (sorted: readonly Point[]): Point[] => {
    const hull: Point[] = [];
    for (const point of sorted) {
      while (hull.length > 1 && turn(hull.at(-2)!, hull.at(-1)!, point) <= 0) hull.pop();
      hull.push(point);
    }
    return hull.slice(0, -1);
  };
  return [...half(points), ...half(points.toReversed())];
}

const turn = (a: Point, b: Point, c: Point): number =>
  (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);

/** One side of the smallest rectangle around a hull lies on a side of the hull (Freeman and Shapira, 1975). */
function smallestRectangle(hull: readonly Point[]): Region {
  let best: Region | undefined;
  for (const [index, [x, y]] of hull.entries()) {
    const [nextX, nextY] = hull[(index + 1) % hull.length]!;
    // Of the two axes the one nearer to the horizontal.
    const quarter = Math.PI / 2;
    const raw = Math.atan2(nextY - y, nextX - x);
    const angle = raw - Math.round(raw / quarter) * quarter;
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
    let [left, right, above, below] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const [px, py] of hull) {
      const [along, across] = [px * cos + py * sin, py * cos - px * sin];
      left = Math.min(left, along);
      right = Math.max(right, along);
      above = Math.min(above, across);
      below = Math.max(below, across);
    }
    const [width, height] = [right - left, below - above];
    if (best && width * height >= best.width * best.height) continue;
    const [along, across] = [(left + right) / 2, (above + below) / 2];
    best = { x: along * cos - across * sin, y: along * sin + across * cos, width, height, angle };
  }
  return best!;
}
