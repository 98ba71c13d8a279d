/** Side of the picture that is judged. */
export const JUDGED_SIDE_PIXELS = 256;
/** Tones that count as the ground's own, on either side of it. */
const TONES = 10;
/** An edge between neighbouring pixels, in tones. */
const EDGE = 40;
/**
 * A page or a screenshot is mostly of one tone, with many edges upon it. Of 23 pictures, the two of writing have shares of .79 and .80 with .14
 * edges; of the 21 photographs four are over these limits, and are recognised in vain.
 */
const GROUND_SHARE_MIN = 0.45;
const EDGE_SHARE_MIN = 0.015;

/**
 * Whether a small grey picture looks as if writing filled it: a recogniser takes seconds for a picture, this a millisecond. A photograph
 * that shows some writing among other things does not.
 */
export function looksLikeTextPage(grey: Uint8Array, width: number): boolean {
  const counts = new Uint32Array(256);
  let edges = 0;
  for (const [at, tone] of grey.entries()) {
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
