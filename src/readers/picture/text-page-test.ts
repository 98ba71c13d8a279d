/** Longer side of the picture that the test takes. */
export const JUDGED_SIDE_PIXELS = 256;
/** Tones on either side of the background's that count as background. */
const TONES = 10;
/** Difference of neighbouring pixels that is an edge, in tones. */
const EDGE = 40;
/**
 * A page or a screenshot has one background tone with many edges on it. Of 23 pictures, the two of text have a background of
 * .79 and .80 and .14 edges. Of the 21 photographs, four are over these limits and go through OCR in vain.
 */
const GROUND_SHARE_MIN = 0.45;
const EDGE_SHARE_MIN = 0.015;
/** Pixels of a side of the squares in each of which a page is lit alike, and which of their tones is the paper's: text is darker. */
const CELL = 32;
const BRIGHT = 0.75;
/** Tones by which the light of neighbouring squares differs at most. On 17 of 23 photographs it is more. */
const LIGHT_STEP_MAX = 60;
const EVEN_LIGHT = 200;

/**
 * Whether text seems to fill a small grey picture. OCR of a picture takes seconds, this a millisecond. A photograph with some
 * text among other things fails the test.
 */
export function looksLikeTextPage(grey: Uint8Array, width: number): boolean {
  if (hasTextOnGround(grey, width)) return true;
  const even = evenlyLit(grey, width);
  return even !== undefined && hasTextOnGround(even, width);
}

function hasTextOnGround(grey: Uint8Array, width: number): boolean {
  const counts = new Uint32Array(256);
  let edges = 0;
  // By index: pairs of an iterator take nearly three times as long.
  for (let at = 0; at < grey.length; at++) {
    const tone = grey[at]!;
    counts[tone] = counts[tone]! + 1;
    if (at < width || at % width === 0) continue;
    if (Math.abs(tone - grey[at - 1]!) > EDGE || Math.abs(tone - grey[at - width]!) > EDGE) edges++;
  }
  let ground = 0;
  for (let tone = 0; tone < 256; tone++) {
    let near = 0;
    for (let other = Math.max(0, tone - TONES); other <= Math.min(255, tone + TONES); other++)
      near += counts[other]!;
    ground = Math.max(ground, near);
  }
  return ground >= grey.length * GROUND_SHARE_MIN && edges >= grey.length * EDGE_SHARE_MIN;
}

/**
 * The picture as it would be in an even light, by what is bright in each cell; undefined where that changes as it does between things,
 * and not as light does on a sheet. Of 27 photographs none looks like a page by it alone.
 */
function evenlyLit(grey: Uint8Array, width: number): Uint8Array | undefined {
  const height = Math.floor(grey.length / width);
  const [across, down] = [Math.ceil(width / CELL), Math.ceil(height / CELL)];
  const light = new Float32Array(across * down);
  for (let cell = 0; cell < light.length; cell++) {
    const [left, top] = [(cell % across) * CELL, Math.floor(cell / across) * CELL];
    light[cell] = Math.max(1, brightTone(grey, width, { left, top, right: left + CELL, bottom: top + CELL }));
    const isSteep = (other: number) => Math.abs(light[cell]! - light[other]!) > LIGHT_STEP_MAX;
    if ((left > 0 && isSteep(cell - 1)) || (top > 0 && isSteep(cell - across))) return undefined;
  }
  const even = new Uint8Array(grey.length);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      // Between the middles of the four cells around.
      const [right, below] = [between(x, across), between(y, down)];
      const [upper, lower] = [below.from * across, below.to * across];
      const above = light[upper + right.from]! * (1 - right.share) + light[upper + right.to]! * right.share;
      const under = light[lower + right.from]! * (1 - right.share) + light[lower + right.to]! * right.share;
      const there = above * (1 - below.share) + under * below.share;
      even[y * width + x] = Math.min(255, (EVEN_LIGHT * grey[y * width + x]!) / there);
    }
  return even;
}

/** The tone that three quarters of a square's pixels do not exceed. */
function brightTone(
  grey: Uint8Array,
  width: number,
  { left, top, right, bottom }: { left: number; top: number; right: number; bottom: number },
): number {
  const counts = new Uint16Array(256);
  let count = 0;
  for (let y = top; y < bottom && y * width < grey.length; y++)
    for (let x = left; x < right && x < width; x++) {
      counts[grey[y * width + x]!]!++;
      count++;
    }
  let tone = 0;
  for (let below = counts[0]!; below <= count * BRIGHT && tone < 255; ) below += counts[++tone]!;
  return tone;
}

function between(at: number, cells: number): { from: number; to: number; share: number } {
  const place = Math.min(cells - 1, Math.max(0, (at + 0.5) / CELL - 0.5));
  const from = Math.floor(place);
  return { from, to: Math.min(cells - 1, from + 1), share: place - from };
}
