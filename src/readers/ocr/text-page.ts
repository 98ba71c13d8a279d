import type { GreyPicture } from '../picture/grey.ts';
import type { Sink } from '../reading/sink.ts';
import { upTo } from '../reading/up-to.ts';
import { followed } from './line-bend.ts';
import { linePicture } from './line-picture.ts';
import { paragraphsOf, type WrittenRegion } from './page-layout.ts';
import { type PageReader, type ReadPage, turned } from './page-reader.ts';
import { ofReadScript } from './read-script.ts';
import type { TextModels } from './text-models.ts';
import type { Region } from './text-regions.ts';

/** Bounds what a page of noise costs: to read so many takes less than a minute, and a page's time is limited. */
const REGIONS_MAX = 1_500;
/** Longer side at which writing is looked for, in pixels. */
const DETECTOR_SIDE = 1280;
/** A line that is this much higher than wide stands upright: the page lies on its side. */
const TALL = 1.5;
/** Lines that are tried on their heads, where they are not read well as they are. */
const TRIED_LINES = 5;
const SURE = 0.9;
/** Below it a line is a guess at dirt or drawings. */
const CONFIDENCE_MIN = 0.5;

/**
 * Side at which a glance looks for writing, in pixels, and by how much longer than high a line is. On 17 pictures with writing a glance
 * at 480 found no more of them, and took twice the time.
 */
const GLANCE_SIDE = 320;
const LINE_SHAPE = 2;

/** Reads pages with PP-OCR, whichever way they lie. */
export class TextPageReader implements PageReader {
  readonly glanceSide = GLANCE_SIDE;
  readonly #models: TextModels;

  constructor(models: TextModels) {
    this.#models = models;
  }

  async glance(picture: GreyPicture): Promise<boolean> {
    const regions = await this.#models.regions(picture, GLANCE_SIDE);
    return regions.some(
      ({ width, height }) => Math.max(width, height) > LINE_SHAPE * Math.min(width, height),
    );
  }

  async read(page: GreyPicture, report: Sink['notRead']): Promise<ReadPage> {
    const upright = await this.#models.regions(page, DETECTOR_SIDE);
    const isOnSide = liesOnSide(upright);
    const side = isOnSide ? turned(page, 1) : page;
    const answer = isOnSide ? await this.#models.regions(side, DETECTOR_SIDE) : upright;
    const found = followed(side, upTo(REGIONS_MAX, answer, 'text', report));
    const standing = (await this.#standsOnHead(side, found)) ? 2 : 0;
    const turn = (isOnSide ? 1 : 0) + standing;
    const regions = standing === 0 ? found : found.map((region) => onHead(region, side));
    const picture = turned(side, standing);
    const written: WrittenRegion[] = [];
    for (const region of regions) {
      const { text, confidence } = await this.#models.line(linePicture(picture, region));
      if (text !== '' && confidence >= CONFIDENCE_MIN) written.push({ ...region, text, confidence });
    }
    const read = ofReadScript(written);
    if (read.length < written.length) report('text', 'no_text');
    return { paragraphs: paragraphsOf(read), turn };
  }

  /** The longest lines are read both ways where they are not sure. */
  async #standsOnHead(page: GreyPicture, regions: readonly Region[]): Promise<boolean> {
    const longest = regions.toSorted((a, b) => shape(b) - shape(a)).slice(0, TRIED_LINES);
    if (longest.length === 0) return false;
    const sureness = async (isOnHead: boolean) => {
      let sum = 0;
      for (const region of longest)
        sum += (await this.#models.line(linePicture(page, region, isOnHead))).confidence;
      return sum / longest.length;
    };
    const upright = await sureness(false);
    return upright < SURE && (await sureness(true)) > upright;
  }
}

const shape = ({ width, height }: Region): number => width / height;

/** True where more of the writing's length runs down the page than across it. */
function liesOnSide(regions: readonly Region[]): boolean {
  let [across, down] = [0, 0];
  for (const { width, height } of regions)
    if (height > TALL * width) down += height;
    else if (width > TALL * height) across += width;
  return down > across;
}

const onHead = (region: Region, { width, height }: GreyPicture): Region => ({
  ...region,
  x: width - region.x,
  y: height - region.y,
  ...(region.bend && { bend: region.bend.map((one, power) => (power % 2 === 0 ? -one : one)) }),
});
