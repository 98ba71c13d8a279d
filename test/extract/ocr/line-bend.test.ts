import t from 'tap';
import { followed } from '../../../src/extract/ocr/line-bend.ts';

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
function found(share: number) {
  const middles = Array.from({ length: WIDTH }, (_, x) => ({
    place: (2 * (x + 0.5)) / WIDTH - 1,
    across: share * (archAt(x) - 52),
    weight: 7,
  }));
  return { x: WIDTH / 2, y: 52, width: WIDTH, height: 34, angle: 0, thickness: LINE / 2.9, middles };
}

t.test('a bent line is followed where the detector found a part of its bend', async (t) => {
  const { bend, height } = followed(strokes(archAt), found(0.4));
  t.ok(bend && height < 30);
});

t.test('a line stays as it is where the detector found it straight, or bent the other way', async (t) => {
  for (const share of [0, 0.05, -0.4]) {
    const { thickness: _, middles: __, ...region } = found(share);
    t.same(followed(strokes(archAt), found(share)), region, `${share}`);
  }
});

t.test('a straight line stays as it is, whatever the detector found', async (t) => {
  const { thickness: _, middles: __, ...region } = found(0.4);
  t.same(
    followed(
      strokes(() => 52),
      found(0.4),
    ),
    region,
  );
});
