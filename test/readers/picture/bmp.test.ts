import t from 'tap';
import { decodeBmp, readBmpHeader } from '../../../src/readers/picture/bmp.ts';

interface Parts {
  readonly width: number;
  readonly height: number;
  readonly bits: number;
  readonly palette?: readonly (readonly number[])[];
  readonly masks?: readonly number[];
  readonly rows: readonly (readonly number[])[];
}

/** A BMP from its parts. Rows are in the order of the file, and padded here. */
function bmp({ width, height, bits, palette = [], masks = [], rows }: Parts): Buffer {
  const rowBytes = Math.floor((bits * width + 31) / 32) * 4;
  const offset = 54 + masks.length * 4 + palette.length * 4;
  const file = Buffer.alloc(offset + rowBytes * rows.length);
  file.write('BM', 'latin1');
  file.writeUInt32LE(offset, 10);
  file.writeUInt32LE(40, 14);
  file.writeInt32LE(width, 18);
  file.writeInt32LE(height, 22);
  file.writeUInt16LE(1, 26);
  file.writeUInt16LE(bits, 28);
  file.writeUInt32LE(masks.length > 0 ? 3 : 0, 30);
  file.writeUInt32LE(palette.length, 46);
  for (const [index, mask] of masks.entries()) file.writeUInt32LE(mask, 54 + index * 4);
  for (const [index, [red, green, blue]] of palette.entries())
    file.set([blue!, green!, red!, 0], 54 + index * 4);
  for (const [index, row] of rows.entries()) file.set(row, offset + index * rowBytes);
  return file;
}

function pixels(file: Buffer): number[] {
  return [...decodeBmp(file, readBmpHeader(file)).data];
}

t.test('24 bits: rows from the bottom, blue first; a negative height reverses the rows', async (t) => {
  const rows = [
    [3, 2, 1, 6, 5, 4],
    [9, 8, 7, 12, 11, 10],
  ];
  t.same(pixels(bmp({ width: 2, height: 2, bits: 24, rows })), [7, 8, 9, 10, 11, 12, 1, 2, 3, 4, 5, 6]);
  t.same(pixels(bmp({ width: 2, height: -2, bits: 24, rows })), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
});

t.test('palettes of 1, 4 and 8 bits; an index beyond the palette is black', async (t) => {
  const palette = [
    [10, 20, 30],
    [40, 50, 60],
  ];
  t.same(
    pixels(bmp({ width: 3, height: 1, bits: 1, palette, rows: [[0b10100000]] })),
    [40, 50, 60, 10, 20, 30, 40, 50, 60],
  );
  t.same(pixels(bmp({ width: 2, height: 1, bits: 4, palette, rows: [[0x10]] })), [40, 50, 60, 10, 20, 30]);
  t.same(pixels(bmp({ width: 2, height: 1, bits: 8, palette, rows: [[1, 7]] })), [40, 50, 60, 0, 0, 0]);
});

t.test('16 and 32 bits, with masks and without', async (t) => {
  t.same(pixels(bmp({ width: 1, height: 1, bits: 16, rows: [[0x00, 0x7c]] })), [255, 0, 0]);
  t.same(
    pixels(bmp({ width: 1, height: 1, bits: 16, masks: [0xf800, 0x07e0, 0x001f], rows: [[0xe0, 0x07]] })),
    [0, 255, 0],
  );
  t.same(pixels(bmp({ width: 1, height: 1, bits: 32, rows: [[1, 2, 3, 99]] })), [3, 2, 1]);
  t.same(
    pixels(bmp({ width: 1, height: 1, bits: 32, masks: [0xff, 0xff00, 0xff0000], rows: [[1, 2, 3, 99]] })),
    [1, 2, 3],
  );
});

t.test('damaged and compressed BMPs are refused, at every length', async (t) => {
  const good = bmp({
    width: 2,
    height: 2,
    bits: 24,
    rows: [
      [1, 2, 3, 4, 5, 6],
      [1, 2, 3, 4, 5, 6],
    ],
  });
  for (let length = 0; length < good.length; length++)
    t.throws(() => pixels(good.subarray(0, length)), RangeError);
  const compressed = Buffer.from(good);
  compressed.writeUInt32LE(1, 30);
  t.throws(() => readBmpHeader(compressed), /compressed/);
  const empty = Buffer.from(good);
  empty.writeInt32LE(0, 18);
  t.throws(() => readBmpHeader(empty), /without pixels/);
});
