/** Pixels in RGB, without gaps. */
interface Rgb {
  readonly data: Uint8Array;
  readonly width: number;
  readonly height: number;
}

/** How source coordinates become those of the display: each is -1, 0 or 1 of the source's x and y. */
export interface Turn {
  readonly xx: number;
  readonly xy: number;
  readonly yx: number;
  readonly yy: number;
}

const BYTES_PER_PIXEL = 3;
const UNITY = 65_536;

/**
 * The turn that a display matrix asks for (ISO/IEC 14496-12, 6.2.2: nine numbers of 32 bits, here in the machine's order), as phones
 * write it that were held upright. Undefined where nothing is to be turned, and for any but quarter turns and mirrors.
 */
export function turnOf(matrix: Buffer | null): Turn | undefined {
  if (!matrix || matrix.length < 36) return undefined;
  const part = (index: number): number => Math.round(matrix.readInt32LE(index * 4) / UNITY) + 0;
  const turn = { xx: part(0), yx: part(1), xy: part(3), yy: part(4) };
  const isStraight =
    Math.abs(turn.xx) + Math.abs(turn.xy) === 1 && Math.abs(turn.yx) + Math.abs(turn.yy) === 1;
  const isWhole = Math.abs(turn.xx * turn.yy - turn.xy * turn.yx) === 1;
  return isStraight && isWhole && !(turn.xx === 1 && turn.yy === 1) ? turn : undefined;
}

/** Whether width and height change places. */
export function isQuarter(turn: Turn | undefined): boolean {
  return turn?.xx === 0;
}

/** The picture as it is displayed: a new one; of a quarter turn, width and height change places. */
export function turned({ data, width, height }: Rgb, turn: Turn): Rgb {
  const [wide, high] = isQuarter(turn) ? [height, width] : [width, height];
  const out = new Uint8Array(data.length);
  // Where the source's first pixel comes to lie, so that nothing lies outside.
  const left = turn.xx + turn.xy < 0 ? wide - 1 : 0;
  const top = turn.yx + turn.yy < 0 ? high - 1 : 0;
  for (let y = 0, from = 0; y < height; y++) {
    for (let x = 0; x < width; x++, from += BYTES_PER_PIXEL) {
      const column = left + turn.xx * x + turn.xy * y;
      const row = top + turn.yx * x + turn.yy * y;
      const to = (row * wide + column) * BYTES_PER_PIXEL;
      out[to] = data[from]!;
      out[to + 1] = data[from + 1]!;
      out[to + 2] = data[from + 2]!;
    }
  }
  return { data: out, width: wide, height: high };
}
