import { execFileSync } from 'node:child_process';
import sharp from 'sharp';

/**
 * How far the sheet is lifted towards the upper edge of the photograph, as a share of the page's height, where it is so far right and
 * so far down.
 */
type Bend = (right: number, down: number) => number;

/** Bend of paper that is held at both sides: its middle up, or down where `by` is below 0. */
const arch =
  (by: number): Bend =>
  (right) =>
    by * Math.sin(Math.PI * right);

/** Bend of a book: most at the spine, on the left. */
const spine =
  (by: number): Bend =>
  (right) =>
    by * Math.exp(-right / 0.15);

const mirrored =
  (bend: Bend): Bend =>
  (right, down) =>
    bend(1 - right, down);

/** Seen from above its middle: what is nearer seems larger, so that the upper lines bend up and the lower ones down. */
const bulge =
  (by: number): Bend =>
  (right, down) =>
    by * Math.sin(Math.PI * right) * (1 - 2 * down);

/** Up and down again, as paper from a roll. */
const wave =
  (by: number): Bend =>
  (right) =>
    by * Math.sin(2 * Math.PI * right);

/** A drawn page as somebody would photograph it: on a desk, seen from aside, perhaps bent, in uneven light, blurred, with noise, as JPEG. */
export interface Shot {
  readonly kind: string;
  /** Corners of the page in the photograph, as shares of its sides: upper left, upper right, lower right, lower left. */
  readonly corners: readonly (readonly [x: number, y: number])[];
  readonly bend?: Bend;
  /** Share of the light that is left on the darkest side, and in a shadow that falls over the page. */
  readonly light?: number;
  readonly shadow?: number;
  /** In pixels. */
  readonly blur?: number;
  /** Deviation of a pixel's tones. */
  readonly noise?: number;
  readonly quality?: number;
}

const SHOTS: readonly Shot[] = [
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

const HELD: Shot['corners'] = [
  [0.16, 0.08],
  [0.85, 0.08],
  [0.85, 0.95],
  [0.15, 0.95],
];
const NARROW: Shot['corners'] = [
  [0.3, 0.06],
  [0.7, 0.05],
  [0.72, 0.95],
  [0.31, 0.96],
];

const bent = (bends: Readonly<Record<string, Bend>>, corners: Shot['corners']): Shot[] =>
  Object.entries(bends).map(([kind, bend]) => ({ kind, bend, corners, light: 0.8 }));

const BENT: readonly Shot[] = bent(
  {
    'middle up by .015': arch(0.015),
    'middle up by .03': arch(0.03),
    'middle up by .05': arch(0.05),
    'middle down by .03': arch(-0.03),
    'spine on the left, .03': spine(0.03),
    'spine on the left, .06': spine(0.06),
    'spine on the left, -.06': spine(-0.06),
    'spine on the right, .06': mirrored(spine(0.06)),
    'bulge of .03': bulge(0.03),
    'bulge of .06': bulge(0.06),
    'wave of .015': wave(0.015),
  },
  HELD,
);

const CURLED: readonly Shot[] = bent(
  {
    flat: () => 0,
    'middle up by .015': arch(0.015),
    'middle up by .03': arch(0.03),
    'middle down by .03': arch(-0.03),
    'one side up by .04': spine(0.04),
    'wave of .01': wave(0.01),
    'bulge of .06': bulge(0.06),
  },
  NARROW,
);

export const FONTS = ['Liberation Serif', 'DejaVu Sans', 'Liberation Mono', 'EB Garamond'];

/** Those that this machine lacks: `fonts-liberation`, `fonts-dejavu-core`, `fonts-ebgaramond`. */
export function isInstalled(font: string): boolean {
  return execFileSync('fc-list', [font, 'family'], { encoding: 'utf8' }).trim() !== '';
}

/** Text of a page, and how it is set, in pixels. */
interface Page {
  readonly text: string;
  readonly width: number;
  readonly height: number;
  readonly left: number;
  readonly top: number;
  readonly size: number;
  readonly pitch: number;
}

const LETTER: Page = {
  text: `The harbour office keeps a book of every ship
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
Paid on arrival. No credit, no exceptions.`,
  width: 1240,
  height: 1600,
  left: 110,
  top: 160,
  size: 42,
  pitch: 82,
};

/** Set close, as books are. */
const BOOK: Page = {
  text: `                   Chapter Seven

The pilot had not slept for two nights, and he said so
to everybody who came up the stairs. From his window he
could see both moles, the light on the outer one, and
the long bar of sand that moved a little every winter.
Nobody had drawn it since 1891. "You may take my chart,"
he told the young man from the office, "but the bank by
the third buoy is mine, and it is not on any chart."

They rowed out at low water. It was cold and perfectly
still; smoke went straight up from the houses, and the
oars left rings that did not fade until the boat was
far away. At the buoy the pilot let down a lead of four
pounds. Six fathoms, five and a half, five, then two.
He wrote nothing down. The young man wrote everything:
the hour, the depth, the angle to the church and to the
chimney of the dye works, and what the pilot said when
the lead came up with blue clay instead of sand.

By noon they had crossed the bank eleven times. Its back
was forty metres further north than in the spring, with
a hollow in it like the mark of a thumb. "A ship of
nine feet goes through there," the pilot said, "on one
day of the month, if somebody knows which day it is."`,
  width: 1240,
  height: 1600,
  left: 110,
  top: 130,
  size: 40,
  pitch: 56,
};

const RECEIPT: Page = {
  text: `MOLE STREET GROCERY
12 Mole Street, Wexcombe
Till 3     27.11.2026 17:42

2 x Rye bread          6.40
Butter, salted         3.15
Plums 0.840 kg         2.52
Lamp oil 1 l           4.99
Candles, box of 12     5.75
Deposit, bottle        0.25

Total EUR             23.06
Cash                  30.00
Change                 6.94

Thank you. Goods may be
returned within 14 days.`,
  width: 640,
  height: 1300,
  left: 40,
  top: 80,
  size: 34,
  pitch: 58,
};

/** Texts, ways to photograph them, and fonts. */
export const PHOTOGRAPHS = [
  { name: 'letter', page: LETTER, fonts: FONTS.slice(0, 1), shots: [...SHOTS, ...BENT] },
  { name: 'letter', page: LETTER, fonts: FONTS.slice(1), shots: SHOTS.slice(0, 1) },
  { name: 'book', page: BOOK, fonts: FONTS, shots: [...SHOTS.slice(0, 1), ...BENT] },
  { name: 'receipt', page: RECEIPT, fonts: ['Liberation Mono', 'DejaVu Sans'], shots: CURLED },
];

const PHOTO = { width: 1500, height: 1800 };

interface Tones {
  readonly data: Uint8Array;
  readonly width: number;
  readonly height: number;
}

/** The page, drawn in a font. */
export async function drawnPage(
  { text, width, height, left, top, size, pitch }: Page,
  font: string,
): Promise<Tones> {
  const lines = text
    .split('\n')
    .map(
      (line, at) =>
        `<text x="${left}" y="${top + at * pitch}" font-size="${size}" font-family="${font}" xml:space="preserve">${line}</text>`,
    );
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
      const down = v + (shot.bend?.(along, v) ?? 0);
      const isPage = u >= 0 && u <= 1 && down >= 0 && down <= 1;
      const side = x / width;
      let light = 1 - (1 - (shot.light ?? 0.95)) * side;
      // A bent sheet is darker where it turns away from the light.
      if (shot.bend) light *= 1 - 0.25 * Math.abs(Math.cos(Math.PI * along));
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
