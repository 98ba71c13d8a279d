import t from 'tap';
import { paragraphsOf, type WrittenRegion } from '../../../src/readers/ocr/page-layout.ts';
import { ofReadScript } from '../../../src/readers/ocr/read-script.ts';

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

/** A line on a flat page. */
const flat = (text: string, row: number, left: number, right: number): WrittenRegion => ({
  ...line(text, row, left, right),
  y: 100 + row * PITCH,
  angle: 0,
  bend: undefined,
});

t.test('a longer column is read to its end before the one beside it', async (t) => {
  const long = Array.from({ length: 8 }, (_, at) => `of the council in line ${'abcdefgh'[at]} they spoke`);
  const short = Array.from({ length: 4 }, (_, at) => `the regatta in line ${'abcd'[at]} was won`);
  const columns = (left: string[], right: string[]) => [
    ...left.map((text, at) => flat(text, at, 40, 380)),
    ...right.map((text, at) => flat(text, at, 440, 760)),
  ];
  t.same(rows(columns(long, short)), [...long, ...short]);
  t.same(rows(columns(short, long)), [...short, ...long]);
});

t.test('rows of figures carry the names of their columns', async (t) => {
  const cells = (row: number, ...texts: string[]) =>
    texts.flatMap((text, at) => (text === '' ? [] : [flat(text, row, 40 + at * 180, 130 + at * 180)]));
  t.same(
    rows([
      ...cells(0, 'Date', 'Details', 'Paid out', 'Paid in'),
      ...cells(1, '1 Oct', 'Rent', '850.00', ''),
      ...cells(2, '3 Oct', 'Wages', '', '2,310.00'),
    ]),
    [
      '| Date | Details | Paid out | Paid in',
      '| Date: 1 Oct | Details: Rent | Paid out: 850.00',
      '| Date: 3 Oct | Details: Wages | Paid in: 2,310.00',
    ],
  );
});

t.test('letters that were made of another script are not believed', async (t) => {
  const read = (...lines: [text: string, confidence: number][]) =>
    ofReadScript(lines.map(([text, confidence], at) => ({ ...flat(text, at, 0, 400), confidence }))).map(
      ({ text }) => text,
    );
  t.same(read(['LOLUMLAHILUMCULM', 0.68], ['NSSCLLL YUUNLBLN', 0.7]), [], 'Thai');
  t.same(read(['02--01', 0.71]), [], 'Korean');
  t.same(read(['AΠAΓOPEYETAI H EIΣOΔOΣ', 0.96]), [], 'capitals of Greek');
  t.same(read(['KX-4417-B 0117 4960101', 0.99]), ['KX-4417-B 0117 4960101'], 'a number');
  t.same(read(['the council met on monday', 0.75]), ['the council met on monday'], 'a bad print');
  t.same(read(['LOLUMLAHILUMCULM', 0.6], ['CULMAHIL NSSCL LLYUU', 0.6], ['Total price in crowns', 0.98]), [
    'Total price in crowns',
  ]);
});
