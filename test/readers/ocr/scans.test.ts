import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import t from 'tap';
import type { Extracted } from '../../../src/protocol/document.ts';
import { missingPackages } from '../../../src/readers/ocr/tesseract.ts';
import { Pdfium } from '../../../src/readers/pdf/pdfium.ts';
import { onlyDeep } from '../../rig/deep.ts';
import { testExtractor } from '../../rig/readers.ts';
import { pdfOf, pdfStream } from '../samples/hostile.ts';

const SAMPLES = '../shared/data/samples';
const needsShared = existsSync(SAMPLES) ? false : 'the shared sample files are not here';

const { read } = testExtractor(t, { languages: ['auto'] });

function words({ blocks }: Extracted): string {
  return blocks.map(({ text }) => text).join('\n');
}

t.test(
  'a scanned page gives its text with boxes and confidence',
  { skip: onlyDeep || needsShared },
  async (t) => {
    const scan = await read(`${SAMPLES}/pdf/MEDRPT-2024-PAT-3847_medical_report_scan.pdf`);
    const first = scan.blocks.filter(({ page }) => page === 1);
    t.match(words({ ...scan, blocks: first }), /COMPREHENSIVE MEDICAL REPORT/);
    t.same([...new Set(scan.blocks.map(({ page }) => page))], [1, 2, 3], 'in the order of the pages');
    t.ok(scan.blocks.every(({ source, confidence = 0 }) => source === 'ocr' && confidence > 0.3));
    t.ok(scan.blocks.every(({ marks = [] }) => marks.length > 0));
    t.equal(scan.pictures.length, 3, 'and is found by its look');
  },
);

/** Three lines of writing, as a PNG. */
function writing(lines: readonly string[]): Promise<Buffer> {
  const texts = lines.map((line, at) => `<text x="40" y="${100 + at * 90}" font-size="56">${line}</text>`);
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="800" height="400"><rect width="800" height="400" fill="white"/>${texts.join('')}</svg>`;
  return sharp(Buffer.from(svg)).png().toBuffer();
}

t.test('a picture of text is read; a photograph is not', async (t) => {
  const written = join(t.testdir(), 'written.png');
  writeFileSync(written, await writing(['The lighthouse keeper', 'counts forty gulls', 'every morning']));
  const { blocks } = await read(written);
  if (blocks.length === 0) t.comment('without any font there is no writing to draw');
  else t.match(words({ blocks } as Extracted).toLowerCase(), /lighthouse keeper\s+counts forty gulls/);
  t.same((await read('samples/chelsea.png')).blocks, []);
});

t.test('a sign in a photograph is read; a photograph without one lacks no text', async (t) => {
  const path = join(t.testdir(), 'sign.png');
  const sign = `<svg xmlns="http://www.w3.org/2000/svg" width="260" height="60"><rect width="260" height="60" fill="#114"/><text x="16" y="42" font-size="34" fill="white" font-family="sans-serif">Ferry Street</text></svg>`;
  await sharp('samples/rocket.jpg')
    .composite([{ input: Buffer.from(sign), left: 60, top: 300 }])
    .png()
    .toFile(path);
  const { blocks, notRead } = await read(path);
  if (blocks.length === 0) t.comment('without any font there is no writing to draw');
  else {
    t.match(words({ blocks } as Extracted), /Ferry Street/);
    t.match(blocks[0], { source: 'ocr' });
    t.ok(blocks[0]!.confidence! >= 0.9);
  }
  t.same(notRead, []);
  const bare = await read('samples/rocket.jpg');
  t.same([bare.blocks, bare.notRead], [[], []]);
});

t.test(
  'photographs beyond the pages that are looked at for writing are said to be unread',
  { skip: onlyDeep },
  async (t) => {
    const photograph = await sharp('samples/rocket.jpg').resize(200, 200, { fit: 'cover' }).png().toBuffer();
    const path = join(t.testdir(), 'three.tiff');
    await sharp([photograph, photograph, photograph], { join: { animated: true } })
      .tiff()
      .toFile(path);
    const unread = async (recognisedPagesMax: number) => {
      const { extractor, read } = testExtractor(t, { languages: ['auto'], limits: { recognisedPagesMax } });
      const { notRead } = await read(path);
      await extractor.close();
      return notRead;
    };
    t.same(await unread(2), [{ what: 'text', why: 'limit' }]);
    t.same(await unread(3), []);
  },
);

t.test(
  'writing in the frames of an animation has their times, and in pages their numbers',
  { skip: onlyDeep },
  async (t) => {
    const folder = t.testdir();
    const frames = ['morning ferry sails', 'evening ferry waits'].map((line) =>
      writing([line, 'from the old harbour', 'to the new one']),
    );
    const all = sharp(await Promise.all(frames), { join: { animated: true } });
    for (const [name, encoded] of [
      ['two.webp', all.clone().webp({ lossless: true, delay: [2000, 2000] })],
      ['two.gif', all.clone().gif({ delay: [2000, 2000], interFrameMaxError: 0 })],
      ['two.tiff', all.clone().tiff()],
    ] as const) {
      const path = join(folder, name);
      await encoded.toFile(path);
      const { blocks, notRead, fileInfo } = await read(path);
      if (blocks.length === 0) return t.comment('without any font there is no writing to draw');
      const evening = blocks.find(({ text }) => /evening ferry/.test(text));
      const isTimed = fileInfo.duration_s !== undefined;
      t.match(evening, isTimed ? { time_s: 2, time_end_s: 4 } : { page: 2 }, name);
      t.same(notRead, [], name);
    }
  },
);

/** Letters made of bars: x, y, width and height in fifths of the letter's height. */
const BARS: Readonly<Record<string, readonly string[]>> = {
  E: ['0 0 1 5', '0 0 3 1', '0 2 3 1', '0 4 3 1'],
  F: ['0 0 1 5', '0 2 3 1', '0 4 3 1'],
  H: ['0 0 1 5', '2 0 1 5', '0 2 3 1'],
  I: ['1 0 1 5'],
  L: ['0 0 1 5', '0 0 3 1'],
  T: ['1 0 1 5', '0 4 3 1'],
};

function drawn(lines: readonly string[], unit: number): string {
  return lines
    .flatMap((line, row) =>
      [...line].flatMap((letter, column) =>
        (BARS[letter] ?? []).map((bar) => {
          const [x, y, wide, high] = bar.split(' ').map(Number) as [number, number, number, number];
          const left = 20 + (column * 4.4 + x) * unit;
          return `${left} ${(lines.length - row) * 10 * unit + y * unit} ${wide * unit} ${high * unit} re f`;
        }),
      ),
    )
    .join('\n');
}

t.test('a PDF page of drawn letters is read; a picture far from the origin counts', async (t) => {
  const path = join(t.testdir(), 'drawn.pdf');
  const lines = ['THE LITTLE HILL', 'FELT THE TILT', 'IF I TELL THE', 'LIFT HE FELL', 'TELL THE FLEET'];
  writeFileSync(
    path,
    pdfOf([
      '<< /Type /Catalog /Pages 2 0 R >>',
      '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
      '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 450 360] /Contents 4 0 R >>',
      pdfStream(Buffer.from(drawn(lines, 6))),
    ]),
  );
  t.match(words(await read(path)), /THE LITTLE HILL/);
  const white = await sharp(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'))
    .flatten({ background: 'white' })
    .jpeg()
    .toBuffer();
  const pdfium = await Pdfium.load();
  const document = pdfium.open(
    pdfOf([
      '<< /Type /Catalog /Pages 2 0 R >>',
      '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
      '<< /Type /Page /Parent 2 0 R /MediaBox [1000 1000 1300 1600] /Rotate 90 /Contents 4 0 R /Resources << /XObject << /I 5 0 R >> >> >>',
      pdfStream(Buffer.from('q 300 0 0 300 1000 1300 cm /I Do Q')),
      Buffer.concat([
        Buffer.from(
          `<< /Type /XObject /Subtype /Image /Width 9 /Height 9 /ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter /DCTDecode /Length ${white.length} >>\nstream\n`,
        ),
        white,
        Buffer.from('\nendstream'),
      ]),
    ]),
  );
  t.teardown(() => document.close());
  t.equal(
    document.page(0, (page) => page.pictureShare()),
    0.5,
    'half of the page is covered, wherever it lies',
  );
});

const TURNED = '../shared/data';
t.test(
  'a page that lies on its side or upside down is read, with boxes on the page as it is',
  { skip: onlyDeep || needsShared },
  async (t) => {
    for (const [file, says] of [
      ['reports/fail/ocr-sideways.png', /Two hinges and a brass bolt/],
      ['reports/fail/ocr-upsidedown.png', /Two hinges and a brass bolt/],
      ['reports/fail/scan-rotated.pdf', /Two hinges and a brass bolt/],
      ['corpora/rot90.pdf', /The quarterly inspection of the weaving shed/],
    ] as const) {
      const { blocks, notRead = [] } = await read(`${TURNED}/${file}`);
      t.match(blocks.map(({ text }) => text).join('\n'), says, file);
      t.same(notRead, [], file);
      const boxes = blocks.flatMap(({ marks = [] }) => marks.map((mark) => mark.box));
      t.ok(
        boxes.length > 3 &&
          boxes.every(({ x, y, width, height }) => x + width <= 1.001 && y + height <= 1.001),
        file,
      );
      if (/sideways|rot/.test(file)) {
        const high = boxes.filter(({ width, height }) => height > width).length;
        t.ok(high > boxes.length / 2, `${file}: lines run up or down`);
      }
    }
  },
);

t.test('every page of a fax is read', { skip: onlyDeep || needsShared }, async (t) => {
  const fax = await read(`${SAMPLES}/image/G31D_MULTI.TIF`);
  t.ok((fax.fileInfo.pages ?? 0) > 1);
  t.same(
    fax.pictures.map(({ page }) => page),
    Array.from({ length: fax.fileInfo.pages! }, (_, index) => index + 1),
  );
  t.ok(fax.blocks.length > 0 && fax.blocks.every(({ source }) => source === 'ocr'));
  t.ok(fax.blocks.every(({ confidence = 0 }) => confidence > 0 && confidence <= 1));
  t.ok(fax.blocks.every(({ marks = [] }) => marks.length > 0));
});

t.test('a language that is not installed is named', async (t) => {
  t.same(missingPackages(['eng', 'tlh']), ['@tesseract.js-data/tlh']);
  t.throws(() => missingPackages(['../x']) && testExtractor(t, { languages: ['../x'] }), /npm/);
  t.throws(() => testExtractor(t, { languages: ['eng', 'tlh'] }), /@tesseract\.js-data\/tlh/);
});
