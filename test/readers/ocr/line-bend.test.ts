import t from 'tap';
import { followed } from '../../../src/readers/ocr/line-bend.ts';
import type { FoundRegion } from '../../../src/readers/ocr/text-regions.ts';

const WIDTH = 400;
const HEIGHT = 120;
const LINE = 20;

/** The middle of a line that is higher between its ends. */
const archAt = (x: number): number => 60 - 12 * Math.sin((Math.PI * x) / WIDTH);

/** Upright strokes, as of letters, along a line. */
function strokes(middleAt: (x: number) => number) {
  const grey = new Uint8Array(WIDTH * HEIGHT).fill(255);
  for (let x = 5; x < WIDTH - 5; x++)
    for (let y = 0; y < HEIGHT; y++)
      if (x % 7 < 2 && Math.abs(y + 0.5 - middleAt(x)) < LINE / 3) grey[y * WIDTH + x] = 0;
  return { grey, width: WIDTH, height: HEIGHT };
}

/** What a detector finds that sees so much of the arch. */
function found(share: number): FoundRegion {
  const middles = Array.from({ length: WIDTH }, (_, x) => ({
    place: (2 * (x + 0.5)) / WIDTH - 1,
    across: share * (archAt(x) - 52),
    weight: 7,
  }));
  return { x: WIDTH / 2, y: 52, width: WIDTH, height: 34, angle: 0, thickness: LINE / 2.9, middles };
}

/** Where the page is empty, and what is no line. */
const empty = { ...found(0), y: 110, height: 8, thickness: 4 };
const short = { ...found(0), width: 30 };

/** As it stays when it is straight. */
const kept = ({ thickness: _, middles: __, ...region }: FoundRegion) => region;
/** A line that is straight on the page, or that letters seem to bend. */
const straight = strokes(() => 52);
const bent = strokes(archAt);

t.test('a bent line is followed where the detector found a part of its bend', async (t) => {
  const [{ bend, height } = found(0), other] = followed(bent, [found(0.4), short]);
  t.ok(bend && height < 30);
  t.same(other, kept(short), 'too short to tell');
});

t.test('where the detector found it straight, or bent the other way, most lines must bend', async (t) => {
  for (const share of [0, 0.05, -0.4]) {
    const one = found(share);
    t.same(followed(bent, [one, empty])[0], kept(one), `${share}, half of the lines`);
    t.ok(followed(bent, [one, { ...one }, empty])[0]!.bend, `${share}, two of three`);
  }
});

t.test('a straight line stays as it is, whatever the detector found', async (t) => {
  t.same(followed(straight, [found(0.4)]), [kept(found(0.4))]);
});
