import t from 'tap';
import { paragraphsOf, type WrittenRegion } from '../../../src/readers/ocr/page-layout.ts';

const PITCH = 40;
const HEIGHT = 28;
/** How far the sheet sinks towards its middle, from 0 to `WIDTH`. */
const WIDTH = 800;
const sunkAt = (x: number): number => 60 * Math.sin((Math.PI * x) / WIDTH);
const slopeAt = (x: number): number => ((60 * Math.PI) / WIDTH) * Math.cos((Math.PI * x) / WIDTH);

/** A line from `left` to `right` in a row of the sheet, as it is found and followed. */
function line(text: string, row: number, left: number, right: number): WrittenRegion {
  const [middle, width] = [(left + right) / 2, right - left];
  const angle = Math.atan(slopeAt(middle));
  const sag = sunkAt(middle) - (sunkAt(left) + sunkAt(right)) / 2;
  // A parabola through the ends and the middle, about its mean.
  const bend = width > WIDTH / 2 ? [sag / 3, 0, -sag] : undefined;
  const y = 100 + row * PITCH + sunkAt(middle) - (bend ? sag / 3 : 0);
  return { text, confidence: 1, x: middle, y, width, height: HEIGHT, angle, ...(bend && { bend }) };
}

const rows = (regions: readonly WrittenRegion[]): string[] =>
  paragraphsOf(regions)
    .flat()
    .map(({ text }) => text);

t.test('the cells of a curled sheet stay in their rows', async (t) => {
  const names = ['Rye bread', 'Butter', 'Plums', 'Lamp oil', 'Candles'];
  const regions = [
    line('Mole Street Grocery, Wexcombe', 0, 40, 760),
    ...names.flatMap((name, at) => [line(name, at + 1, 200, 400), line(`${at}.40`, at + 1, 680, 760)]),
    line('Thank you. Goods may be returned', 6, 40, 760),
  ];
  t.same(rows(regions), [
    'Mole Street Grocery, Wexcombe',
    ...names.map((name, at) => `${name} ${at}.40`),
    'Thank you. Goods may be returned',
  ]);
});

t.test('regions that overlap a little stand in one row, in the order in which they begin', async (t) => {
  const left = { ...line('Till 3', 1, 40, 200), y: 103, angle: 0 };
  const right = { ...line('27.11.2026', 1, 180, 400), y: 100, angle: 0 };
  t.same(rows([left, right]), ['Till 3 27.11.2026']);
});
