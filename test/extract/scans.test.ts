import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import t from 'tap';
import { EXTRACT_LIMITS, type Extracted } from '../../src/domain/document.ts';
import { openExtractor } from '../../src/extract/extractor.ts';
import { missingLanguages } from '../../src/extract/tesseract.ts';

const SAMPLES = '../shared/data/samples';
const needsShared = existsSync(SAMPLES) ? false : 'the shared sample files are not here';

function extractorOf(languages: readonly string[]) {
  const opened = openExtractor({
    pictureSpec: undefined,
    limits: EXTRACT_LIMITS,
    scratchFolder: join(t.testdir(), `scratch-${languages.join('-')}`),
    languages,
    log: () => undefined,
  });
  t.teardown(() => opened.close());
  return opened;
}

const extractor = extractorOf(['eng']);

async function read(path: string): Promise<Extracted> {
  return extractor.extract(path, await extractor.open(path, {}));
}

function words({ blocks }: Extracted): string {
  return blocks.map(({ text }) => text).join('\n');
}

t.test(
  'a scanned page gives its text, with where it stands and how sure it is',
  { skip: needsShared },
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

t.test('a picture of writing is read, one of other things is not', async (t) => {
  const written = join(t.testdir(), 'written.png');
  const lines = ['The lighthouse keeper', 'counts forty gulls', 'every morning'];
  const texts = lines.map((line, at) => `<text x="40" y="${100 + at * 90}" font-size="56">${line}</text>`);
  await sharp(
    Buffer.from(
      `<svg xmlns="http://www.w3.org/2000/svg" width="800" height="400"><rect width="800" height="400" fill="white"/>${texts.join('')}</svg>`,
    ),
  )
    .png()
    .toFile(written);
  const { blocks } = await read(written);
  if (blocks.length === 0) t.comment('without any font there is no writing to draw');
  else t.match(words({ blocks } as Extracted).toLowerCase(), /lighthouse keeper\s+counts forty gulls/);
  t.same((await read('samples/chelsea.png')).blocks, []);
});

t.test('a fax of several pages gives its pages, read', { skip: needsShared }, async (t) => {
  const fax = await read(`${SAMPLES}/image/G31D_MULTI.TIF`);
  t.ok((fax.opened.pages ?? 0) > 1);
  t.same(
    fax.pictures.map(({ page }) => page),
    Array.from({ length: fax.opened.pages! }, (_, index) => index + 1),
  );
  t.ok(fax.blocks.length > 0 && fax.blocks.every(({ source }) => source === 'ocr'));
});

t.test('animations give their shots with times, other pictures one', { skip: needsShared }, async (t) => {
  const loop = await read(`${SAMPLES}/image/animated-loop-3.gif`);
  t.ok(loop.opened.duration_s! > 0);
  t.equal(loop.pictures[0]!.time_s, 0);
  t.equal(loop.pictures.at(-1)!.time_end_s, loop.opened.duration_s);
  t.match(await read(`${SAMPLES}/image/example.avif`), {
    opened: { mediaType: 'image/avif' },
    pictures: { length: 1 },
  });
});

t.test('an SVG is drawn without anything that it refers to', async (t) => {
  const folder = t.testdir({ 'secret.png': readFileSync('samples/chelsea.png') });
  const path = join(folder, 'drawing.svg');
  writeFileSync(
    path,
    `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="100" height="100"><script>while(true){}</script><image xlink:href="file://${folder}/secret.png" width="100" height="100"/><image href="http://127.0.0.1:1/x.png" width="9" height="9"/></svg>`,
  );
  const { pictures } = await read(path);
  const white = join(folder, 'white.svg');
  writeFileSync(white, '<svg xmlns="http://www.w3.org/2000/svg" width="100" height="100"/>');
  t.same(pictures[0]?.fingerprint, (await read(white)).pictures[0]?.fingerprint);
});

t.test(
  'new kinds of pictures cut off at any tenth are read or refused by code',
  { skip: needsShared },
  async (t) => {
    const folder = t.testdir();
    for (const name of ['G31D_MULTI.TIF', 'animated-loop-3.gif', 'example.avif']) {
      const bytes = readFileSync(`${SAMPLES}/image/${name}`);
      for (let tenth = 1; tenth < 10; tenth++) {
        const path = join(folder, `${tenth}-${name}`);
        writeFileSync(path, bytes.subarray(0, (bytes.length * tenth) / 10));
        const outcome = await extractor.open(path, {}).then(
          () => 'opened',
          (error: { code: string }) => error.code,
        );
        t.ok(['opened', 'file_corrupt'].includes(outcome), `${name} at ${tenth}/10: ${outcome}`);
      }
    }
  },
);

t.test('without languages scans have no text, and an absent language is named', async (t) => {
  t.same(missingLanguages(['eng', 'tlh', '../x']), ['tlh', '../x']);
  t.throws(() => extractorOf(['tlh']), /@tesseract\.js-data\/tlh/);
});
