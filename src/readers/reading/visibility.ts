/**
 * Whether people see what a file says: one rule for all formats. Text that nobody sees is left out, and told as `hidden_text`. It may
 * speak to machines alone.
 */

/** 0..255 each, and how much of it shows, 0..1. */
export interface Colour {
  readonly red: number;
  readonly green: number;
  readonly blue: number;
  readonly alpha: number;
}

export const BLACK: Colour = { red: 0, green: 0, blue: 0, alpha: 1 };
export const WHITE: Colour = { red: 255, green: 255, blue: 255, alpha: 1 };
const CLEAR: Colour = { ...WHITE, alpha: 0 };

/** Contrast (WCAG 2.2, 1.4.3) below which letters are not seen on their ground. The faintest grey that designers use, #ddd on white, has 1.36. */
const CONTRAST_MIN = 1.2;
/** Letters of this size, in points, cannot be read. */
const POINTS_MIN = 2;
/** What shows to this share is not seen. */
const OPACITY_MIN = 0.1;

export function isTiny(points: number): boolean {
  return points <= POINTS_MIN;
}

export function isClear(opacity: number): boolean {
  return opacity < OPACITY_MIN;
}

/** True for letters that do not stand out from their ground. @param ground undefined: unknown, then only clear letters are not seen */
export function isFaint(ink: Colour, ground: Colour | undefined): boolean {
  if (isClear(ink.alpha)) return true;
  if (!ground) return false;
  const [one, other] = [luminance(over(ink, ground)), luminance(ground)];
  return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05) < CONTRAST_MIN;
}

/** A colour laid over an opaque one. */
export function over(top: Colour, ground: Colour): Colour {
  const mix = (one: number, other: number): number => one * top.alpha + other * (1 - top.alpha);
  const [red, green, blue] = [
    mix(top.red, ground.red),
    mix(top.green, ground.green),
    mix(top.blue, ground.blue),
  ];
  return { red, green, blue, alpha: 1 };
}

function luminance({ red, green, blue }: Colour): number {
  const [r, g, b] = [red, green, blue].map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Names that stand for a light or a dark ground. Others are seen on either. */
const NAMES: Readonly<Record<string, Colour>> = {
  transparent: CLEAR,
  white: WHITE,
  snow: grey(0xfb),
  ivory: grey(0xfd),
  whitesmoke: grey(0xf5),
  ghostwhite: grey(0xf9),
  floralwhite: grey(0xf9),
  azure: grey(0xfa),
  black: BLACK,
  red: { ...BLACK, red: 255 },
  blue: { ...BLACK, blue: 255 },
  green: { ...BLACK, green: 128 },
  yellow: { ...WHITE, blue: 0 },
  gray: grey(0x80),
  grey: grey(0x80),
  silver: grey(0xc0),
  navy: { ...BLACK, blue: 128 },
};

function grey(value: number): Colour {
  return { red: value, green: value, blue: value, alpha: 1 };
}

/** A colour as style sheets and office files write it; undefined for one that is not understood. */
export function colourOf(text: string): Colour | undefined {
  const word = text.trim().toLowerCase();
  const hex = /^#?([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/.exec(word)?.[1];
  if (hex !== undefined) {
    const digits = hex.length < 6 ? [...hex].map((digit) => digit + digit) : (hex.match(/../g) ?? []);
    const [red, green, blue, alpha = 255] = digits.map((pair) => Number.parseInt(pair, 16));
    return { red: red!, green: green!, blue: blue!, alpha: alpha / 255 };
  }
  const [, kind, inside] = /^(rgb|hsl)a?\(([^()]{1,100})\)$/.exec(word) ?? [];
  if (kind === undefined) return Object.hasOwn(NAMES, word) ? NAMES[word] : undefined;
  const parts = inside!.split(/[\s,/]+/).filter(Boolean);
  const share = (at: number, whole: number): number => {
    const part = parts[at] ?? '';
    return part.endsWith('%') ? (Number.parseFloat(part) / 100) * whole : Number.parseFloat(part);
  };
  const alpha = parts.length > 3 ? share(3, 1) : 1;
  if (kind === 'rgb') return { red: share(0, 255), green: share(1, 255), blue: share(2, 255), alpha };
  // Of a hue, lightness alone decides whether it is near to white or black.
  const light = share(2, 1);
  return { ...grey((light > 1 ? light / 100 : light) * 255), alpha };
}
