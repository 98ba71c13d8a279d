/** Pixels in RGB, without gaps. */
interface Rgb {
  readonly data: Uint8Array;
  readonly width: number;
  readonly height: number;
}

/** Maps coordinates of the source to those of the display. Each factor is -1, 0 or 1. */
export interface Rotation {
  readonly xx: number;
  readonly xy: number;
  readonly yx: number;
  readonly yy: number;
}

const BYTES_PER_PIXEL = 3;
const UNITY = 65_536;

/**
 * The rotation of a display matrix (ISO/IEC 14496-12, 6.2.2: nine numbers of 32 bits, here in the machine's byte order).
 * Phones that were held upright write one. Undefined for the identity, and for anything but quarter turns and mirrors.
 */
export function rotationOf(matrix: Buffer | null): Rotation | undefined {
  if (!matrix || matrix.length < 36) return undefined;
  const part = (index: number): number => Math.round(matrix.readInt32LE(index * 4) / UNITY) + 0;
  const rotation = { xx: part(0), yx: part(1), xy: part(3), yy: part(4) };
  const isStraight =
    Math.abs(rotation.xx) + Math.abs(rotation.xy) === 1 &&
    Math.abs(rotation.yx) + Math.abs(rotation.yy) === 1;
  const isWhole = Math.abs(rotation.xx * rotation.yy - rotation.xy * rotation.yx) === 1;
  return isStraight && isWhole && !(rotation.xx === 1 && rotation.yy === 1) ? rotation : undefined;
}

/** Whether width and height change places. */
export function swapsSides(rotation: Rotation | undefined): boolean {
  return rotation?.xx === 0;
}

/** A copy of the picture as it is displayed. */
export function rotated({ data, width, height }: Rgb, rotation: Rotation): Rgb {
  const [outWidth, outHeight] = swapsSides(rotation) ? [height, width] : [width, height];
  const out = new Uint8Array(data.length);
  // The place of the source's first pixel, by which all others lie inside.
  const left = rotation.xx + rotation.xy < 0 ? outWidth - 1 : 0;
  const top = rotation.yx + rotation.yy < 0 ? outHeight - 1 : 0;
  for (let y = 0, from = 0; y < height; y++) {
    for (let x = 0; x < width; x++, from += BYTES_PER_PIXEL) {
      const column = left + rotation.xx * x + rotation.xy * y;
      const row = top + rotation.yx * x + rotation.yy * y;
      const to = (row * outWidth + column) * BYTES_PER_PIXEL;
      out[to] = data[from]!;
      out[to + 1] = data[from + 1]!;
      out[to + 2] = data[from + 2]!;
    }
  }
  return { data: out, width: outWidth, height: outHeight };
}
