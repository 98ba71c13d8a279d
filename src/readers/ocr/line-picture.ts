import type { GreyPicture } from '../picture/grey.ts';
import { bendAt } from './line-bend.ts';
import type { Region } from './text-regions.ts';

/** Height of a line for the recogniser, in pixels. */
export const LINE_HEIGHT = 48;
/** Widths are multiples of it: of so many pixels the recogniser makes one answer. */
const STEP = 8;
const WIDTH_MIN = 4 * STEP;
/** Of a longer line the letters come closer. */
const WIDTH_MAX = 4_000;

/**
 * A region of a page as a straight line of writing. A bent one is moved across its axis, not turned: a sheet that is bent along its
 * lines keeps the uprights of its letters.
 *
 * @param isTurned it stands on its head
 */
export function linePicture(page: GreyPicture, region: Region, isTurned = false): GreyPicture {
  const natural = (LINE_HEIGHT * region.width) / region.height;
  const width = Math.min(WIDTH_MAX, Math.max(WIDTH_MIN, Math.round(natural / STEP) * STEP));
  const grey = new Uint8Array(width * LINE_HEIGHT);
  const [cos, sin] = [Math.cos(region.angle), Math.sin(region.angle)];
  const sign = isTurned ? -1 : 1;
  // A large line is sampled more than once a pixel, or thin strokes would be lost between the samples.
  const samples = Math.max(1, Math.min(4, Math.round(region.height / LINE_HEIGHT)));
  for (let y = 0; y < LINE_HEIGHT; y++)
    for (let x = 0; x < width; x++) {
      let sum = 0;
      for (let part = 0; part < samples * samples; part++) {
        const [right, down] = [
          ((part % samples) + 0.5) / samples,
          (Math.floor(part / samples) + 0.5) / samples,
        ];
        const along = sign * ((x + right) / width - 0.5) * region.width;
        const across =
          sign * ((y + down) / LINE_HEIGHT - 0.5) * region.height +
          (region.bend ? bendAt(region.bend, (2 * along) / region.width) : 0);
        sum += toneAt(page, region.x + along * cos - across * sin, region.y + along * sin + across * cos);
      }
      grey[y * width + x] = Math.round(sum / (samples * samples));
    }
  return { grey, width, height: LINE_HEIGHT };
}

/** Between the four pixels around a point; outside of the page the nearest. */
function toneAt({ grey, width, height }: GreyPicture, x: number, y: number): number {
  const [fromX, fromY] = [Math.floor(x - 0.5), Math.floor(y - 0.5)];
  const [right, down] = [x - 0.5 - fromX, y - 0.5 - fromY];
  const [left, next] = [within(fromX, width), within(fromX + 1, width)];
  const [above, below] = [within(fromY, height) * width, within(fromY + 1, height) * width];
  const upper = grey[above + left]! * (1 - right) + grey[above + next]! * right;
  const lower = grey[below + left]! * (1 - right) + grey[below + next]! * right;
  return upper * (1 - down) + lower * down;
}

const within = (at: number, length: number): number => Math.min(length - 1, Math.max(0, at));
