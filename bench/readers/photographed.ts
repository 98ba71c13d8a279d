import { execFileSync } from 'node:child_process';
import sharp from 'sharp';

/** A drawn page as somebody would photograph it: on a desk, seen from aside, perhaps curved, in uneven light, blurred, with noise, as JPEG. */
export interface Shot {
  readonly kind: string;
  /** Corners of the page in the photograph, as shares of its sides: upper left, upper right, lower right, lower left. */
  readonly corners: readonly (readonly [x: number, y: number])[];
  /** How far the middle of a line stands above its ends, as a share of the page's height. */
  readonly curve?: number;
  /** Share of the light that is left on the darkest side, and in a shadow that falls over the page. */
  readonly light?: number;
  readonly shadow?: number;
  /** In pixels. */
  readonly blur?: number;
  /** Deviation of a pixel's tones. */
  readonly noise?: number;
  readonly quality?: number;
}

export const SHOTS: readonly Shot[] = [
  {
    kind: 'from above',
    corners: [
      [0.16, 0.05],
      [0.85, 0.06],
      [0.84, 0.95],
      [0.15, 0.94],
    ],
  },
  {
    kind: 'from aside',
    corners: [
      [0.25, 0.12],
      [0.8, 0.1],
      [0.94, 0.9],
      [0.08, 0.94],
    ],
    light: 0.6,
  },
  {
    kind: 'at an angle',
    corners: [
      [0.33, 0.04],
      [0.97, 0.27],
      [0.68, 0.97],
      [0.05, 0.72],
    ],
    light: 0.7,
  },
  {
    kind: 'curved',
    corners: [
      [0.16, 0.08],
      [0.85, 0.08],
      [0.85, 0.95],
      [0.15, 0.95],
    ],
    curve: 0.03,
    light: 0.8,
  },
  {
    kind: 'in a shadow',
    corners: [
      [0.16, 0.05],
      [0.85, 0.06],
      [0.84, 0.95],
      [0.15, 0.94],
    ],
    shadow: 0.45,
  },
  {
    kind: 'blurred, with noise',
    corners: [
      [0.18, 0.08],
      [0.83, 0.05],
      [0.86, 0.93],
      [0.14, 0.95],
    ],
    blur: 1.4,
    noise: 12,
    quality: 50,
  },
  {
    kind: 'on its side',
    corners: [
      [0.95, 0.1],
      [0.93, 0.92],
      [0.06, 0.9],
      [0.05, 0.12],
    ],
    light: 0.7,
  },
];

export const FONTS = ['Liberation Serif', 'DejaVu Sans', 'Liberation Mono', 'EB Garamond'];

/** Those that this machine lacks: `fonts-liberation`, `fonts-dejavu-core`, `fonts-ebgaramond`. */
export function isInstalled(font: string): boolean {
  return execFileSync('fc-list', [font, 'family'], { encoding: 'utf8' }).trim() !== '';
}

export const TEXT = `The harbour office keeps a book of every ship
that came in since 1874. Each line has a date,
a name, the cargo and what it was worth: coal,
timber, oranges, once an elephant for a circus.

Sturm in der Nacht; drei Boote fehlten noch.
Um 6:40 Uhr früh kam die »Möwe« zurück, mit
gebrochenem Mast und 312 Kisten Äpfel an Bord.

Fees for the quay, per metre and day:
under 8 m      2.50
8 to 15 m      3.75
over 15 m      6.00
Paid on arrival. No credit, no exceptions.`;

const PAGE = { width: 1240, height: 1600 };
const PHOTO = { width: 1500, height: 1800 };

interface Tones {
  readonly data: Uint8Array;
  readonly width: number;
  readonly height: number;
}

/** The page, drawn in a font. */
export async function drawnPage(font: string): Promise<Tones> {
  const lines = TEXT.split('\n').map(
    (line, at) =>
      `<text x="110" y="${160 + at * 82}" font-size="42" font-family="${font}" xml:space="preserve">${line}</text>`,
  );
  const { width, height } = PAGE;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="${width}" height="${height}" fill="#f4f1ea"/><g fill="#222">${lines.join('')}</g></svg>`;
  const data = await sharp(Buffer.from(svg)).greyscale().toColourspace('b-w').raw().toBuffer();
  return { data, width, height };
}

/** A photograph of the page as JPEG: the same bytes each time. */
export async function photographed(page: Tones, shot: Shot): Promise<Buffer> {
  const { width, height } = PHOTO;
  const toPage = inverse(homography(shot.corners.map(([x, y]) => [x * width, y * height])));
  const random = uniform();
  const tones = new Uint8Array(3 * width * height);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const [u, v] = project(toPage, x, y);
      const along = Math.min(1, Math.max(0, u));
      const down = v + (shot.curve ?? 0) * Math.sin(Math.PI * along);
      const isPage = u >= 0 && u <= 1 && down >= 0 && down <= 1;
      const side = x / width;
      let light = 1 - (1 - (shot.light ?? 0.95)) * side;
      // A bent sheet is darker where it turns away from the light.
      if (shot.curve) light *= 1 - 0.25 * Math.abs(Math.cos(Math.PI * along));
      if (shot.shadow) light *= 1 - (1 - shot.shadow) * ramp((x + 0.6 * y) / width - 0.75);
      const grain = 0.12 * Math.sin(x / 9 + 3 * Math.sin(y / 140)) + 0.08 * Math.sin(x / 2.3 + y / 300);
      const desk = [120, 82, 52].map((tone) => tone * (1 + grain));
      const paper = isPage ? at(page, u * page.width, down * page.height) : 0;
      for (let channel = 0; channel < 3; channel++) {
        const tone = isPage ? paper * [1, 0.98, 0.93][channel]! : desk[channel]!;
        const noise = (shot.noise ?? 4) * normal(random);
        tones[3 * (y * width + x) + channel] = Math.min(255, Math.max(0, tone * light + noise));
      }
    }
  const photo = sharp(tones, { raw: { width, height, channels: 3 } });
  return photo
    .blur(shot.blur ?? 0.6)
    .jpeg({ quality: shot.quality ?? 80 })
    .toBuffer();
}

/** From 0 to 1 over a tenth of the picture: the edge of a shadow is soft. */
function ramp(value: number): number {
  return Math.min(1, Math.max(0, 10 * value + 0.5));
}

/** Between four pixels. */
function at({ data, width, height }: Tones, x: number, y: number): number {
  const [left, top] = [Math.min(width - 2, Math.floor(x)), Math.min(height - 2, Math.floor(y))];
  const [right, below] = [Math.min(1, x - left), Math.min(1, y - top)];
  const of = (row: number) => data[row * width + left]! * (1 - right) + data[row * width + left + 1]! * right;
  return of(top) * (1 - below) + of(top + 1) * below;
}

type Matrix = readonly number[];

/** The projection of the unit square to four points (Heckbert, Fundamentals of Texture Mapping, 1989). */
function homography(corners: readonly (readonly number[])[]): Matrix {
  const [[x0, y0], [x1, y1], [x2, y2], [x3, y3]] = corners as [number, number][] as [
    [number, number],
    [number, number],
    [number, number],
    [number, number],
  ];
  const [dx1, dx2, sx] = [x1 - x2, x3 - x2, x0 - x1 + x2 - x3];
  const [dy1, dy2, sy] = [y1 - y2, y3 - y2, y0 - y1 + y2 - y3];
  const det = dx1 * dy2 - dx2 * dy1;
  const [g, h] = [(sx * dy2 - dx2 * sy) / det, (dx1 * sy - sx * dy1) / det];
  return [x1 - x0 + g * x1, x3 - x0 + h * x3, x0, y1 - y0 + g * y1, y3 - y0 + h * y3, y0, g, h, 1];
}

/** Up to a factor, which a projection does not see. */
function inverse([a, b, c, d, e, f, g, h, i]: Matrix): Matrix {
  const [A, B, C, D, E, F, G, H, I] = [a!, b!, c!, d!, e!, f!, g!, h!, i!];
  return [
    E * I - F * H,
    C * H - B * I,
    B * F - C * E,
    F * G - D * I,
    A * I - C * G,
    C * D - A * F,
    D * H - E * G,
    B * G - A * H,
    A * E - B * D,
  ];
}

function project([a, b, c, d, e, f, g, h, i]: Matrix, x: number, y: number): [number, number] {
  const depth = g! * x + h! * y + i!;
  return [(a! * x + b! * y + c!) / depth, (d! * x + e! * y + f!) / depth];
}

/** Mulberry32. */
function uniform(): () => number {
  let state = 1;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The sum of twelve (Irwin–Hall). */
function normal(random: () => number): number {
  let sum = -6;
  for (let one = 0; one < 12; one++) sum += random();
  return sum;
}
