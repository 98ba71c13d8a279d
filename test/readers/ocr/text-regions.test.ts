import t from 'tap';
import { textRegions } from '../../../src/readers/ocr/text-regions.ts';
import { Random } from '../../rig/random.ts';

const WIDTH = 400;
const HEIGHT = 300;

t.test('a turned rectangle of likely pixels is found with its middle, sides and angle', (t) => {
  const random = new Random(1);
  for (let round = 0; round < 50; round++) {
    const angle = ((random.below(60) - 30) * Math.PI) / 180;
    const [width, height] = [80 + random.below(100), 12 + random.below(20)];
    const [x, y] = [180 + random.below(40), 130 + random.below(40)];
    const values = new Float32Array(WIDTH * HEIGHT);
    for (let at = 0; at < values.length; at++) {
      const [right, down] = [(at % WIDTH) + 0.5 - x, Math.floor(at / WIDTH) + 0.5 - y];
      const along = right * Math.cos(angle) + down * Math.sin(angle);
      const across = down * Math.cos(angle) - right * Math.sin(angle);
      values[at] = Math.abs(along) <= width / 2 && Math.abs(across) <= height / 2 ? 0.9 : 0;
    }
    const [region, ...others] = textRegions({ values, width: WIDTH, height: HEIGHT });
    t.same(others, []);
    const growth = (1.6 * width * height) / (width + height);
    const near = (one: number, other: number, by: number) => Math.abs(one - other) <= by;
    t.ok(
      region &&
        near(region.x, x, 1) &&
        near(region.y, y, 1) &&
        near(region.angle, angle, 0.03) &&
        near(region.width, width + growth, 5) &&
        near(region.height, height + growth, 5),
      JSON.stringify({ round, x, y, width, height, angle, region }),
    );
  }
  t.end();
});

t.test('unlikely pixels, dirt and a page of noise', (t) => {
  const size = { width: WIDTH, height: HEIGHT };
  const filled = (tone: (at: number) => number) =>
    textRegions({ ...size, values: Float32Array.from({ length: WIDTH * HEIGHT }, (_, at) => tone(at)) });
  t.same(
    filled(() => 0.29),
    [],
  );
  t.same(
    filled((at) => (at === 5000 ? 0.9 : 0)),
    [],
    'a dot',
  );
  t.equal(filled(() => 0.9).length, 1, 'all of it');
  const grid = (at: number) => (at % WIDTH) % 6 < 4 && Math.floor(at / WIDTH) % 6 < 4;
  t.equal(filled((at) => (grid(at) ? 0.9 : 0)).length, 67 * 50, 'a grid');
  t.end();
});
