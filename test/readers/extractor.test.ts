import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import t, { type Test } from 'tap';
import type { ExtractLimits } from '../../src/protocol/document.ts';
import { READABLE_TYPES } from '../../src/readers/formats.ts';
import { onlyDeep } from '../rig/deep.ts';
import { eventually } from '../rig/eventually.ts';
import { testExtractor } from '../rig/readers.ts';
import { zipOf } from './samples/archives.ts';
import { bombPdf, emptyPdf, hostileFile } from './samples/hostile.ts';

const SHARED = '../shared/data';
const needsShared = existsSync(SHARED) ? false : 'the shared sample files are not here';
const SPEC = { width: 64, height: 48, fit: 'cover', resample: 'lanczos3' } as const;

function started(test: Test, limits: Partial<ExtractLimits> = {}) {
  const events: { event: string }[] = [];
  const log = (event: object) => void events.push(event as { event: string });
  return { ...testExtractor(test, { pictureSpec: SPEC, limits, log }), events };
}

/** For all tests that do no harm to its processes. */
const { extractor, scratchFolder, read } = started(t);

const folder = t.testdir({});
let made = 0;
function file(bytes: Buffer | string, name = 'file'): string {
  const path = join(folder, `${made++}-${name}`);
  writeFileSync(path, bytes);
  return path;
}

t.test('a PDF gives its pages, counted from 1, and its title', async (t) => {
  const { fileInfo, title, blocks, pictures } = await read('samples/almanac.pdf');
  t.match(fileInfo, { kind: 'document', mediaType: 'application/pdf', pages: 5 });
  t.equal(title, 'A Small Almanac');
  t.same(
    blocks.map(({ page }) => page),
    [1, 2, 3, 4, 5],
  );
  t.match(blocks[4]?.text, /estuary of the Rance in Brittany/);
  t.notMatch(blocks[0]?.text, /\n.*\n.*\n/, 'lines are joined to paragraphs');
  t.same(pictures, [], 'pages of text alone are not looked at as pictures');
});

t.test('each line of a page has its box, except the page number', async (t) => {
  const { blocks } = await read('samples/almanac.pdf');
  const boxes = (blocks[0]!.marks ?? []).map(({ box }) => box);
  const right = Math.max(...boxes.map(({ x, width }) => x + width));
  const bottom = Math.max(...boxes.map(({ y, height }) => y + height));
  t.ok(right > 0.88 && right < 0.89, `the longest line ends at ${right}, just before the margin`);
  t.ok(bottom < 0.5, `the last line ends at ${bottom}; the number is at the foot of the page`);
  t.match(blocks[0]!.text, /1$/, 'it is text all the same');
});

t.test('a picture gives pixels of the asked size, its fingerprint, its file’s digest', async (t) => {
  for (const name of ['chelsea.png', 'rocket.jpg']) {
    const bytes = readFileSync(`samples/${name}`);
    const { pictures, fileInfo } = await read(`samples/${name}`);
    t.equal(pictures.length, 1);
    t.equal(pictures[0]?.pixels.rgb.length, SPEC.width * SPEC.height * 3);
    t.equal(pictures[0]?.fingerprint.length, 16);
    t.equal(
      Buffer.from(pictures[0]!.digest).toString('hex'),
      createHash('sha256').update(bytes).digest('hex'),
    );
    t.same(
      { width: fileInfo.width, height: fileInfo.height },
      { width: pictures[0]?.width, height: pictures[0]?.height },
    );
    const query = await extractor.decodePicture(bytes);
    t.same(query, pictures[0], 'a query sees the same picture');
  }
});

t.test('pictures are rotated by EXIF, flattened on white, and converted to sRGB', async (t) => {
  const red = sharp({ create: { width: 40, height: 20, channels: 3, background: '#ff0000' } });
  const portrait = await red.clone().jpeg().withMetadata({ orientation: 6 }).toBuffer();
  t.match(await extractor.open(file(portrait), {}), { width: 20, height: 40 });
  const clear = await sharp({
    create: { width: 64, height: 48, channels: 4, background: { r: 0, g: 0, b: 0, alpha: 0 } },
  })
    .png()
    .toBuffer();
  t.ok((await extractor.decodePicture(clear)).pixels.rgb.every((value) => value === 255));
  const grey = await sharp({ create: { width: 64, height: 48, channels: 3, background: '#808080' } })
    .toColourspace('b-w')
    .png()
    .toBuffer();
  t.ok((await extractor.decodePicture(grey)).pixels.rgb.every((value) => value === 128));
  const cmyk = await red.clone().toColourspace('cmyk').jpeg({ quality: 100 }).toBuffer();
  const [r, g, b] = (await extractor.decodePicture(cmyk)).pixels.rgb;
  t.ok(r! > 180 && g! < 90 && b! < 90, `red stays red: ${r} ${g} ${b}`);
});

t.test('an unreadable format is refused with the list of readable ones', async (t) => {
  const jar = zipOf({ 'META-INF/MANIFEST.MF': 'Manifest-Version: 1.0' });
  const program = Buffer.concat([Buffer.from('\x7fELF\x02\x01\x01'), Buffer.alloc(3000, 1)]);
  for (const content of [jar, program, Buffer.alloc(3000)]) {
    await t.rejects(extractor.open(file(content), {}), {
      code: 'media_type_unsupported',
      facts: { readable: [...READABLE_TYPES] },
    });
  }
});

t.test('empty, damaged and encrypted files are told apart', async (t) => {
  await t.rejects(extractor.open(file(''), {}), { code: 'file_empty' });
  await t.rejects(extractor.open(file(' \n\t '), {}), { code: 'file_empty' });
  await t.rejects(extractor.open(file('%PDF-1.7 and nothing else'), {}), { code: 'file_corrupt' });
  await t.rejects(extractor.open(file(emptyPdf()), {}), { code: 'file_corrupt' });
  await t.rejects(extractor.open(file(Buffer.concat([Buffer.from('BM'), Buffer.alloc(60)])), {}), {
    code: 'file_corrupt',
  });
});

t.test('a picture to search with that claims too much, or is none, is refused', async (t) => {
  const flood = hostileFile('pixel-flood.png');
  for (const bytes of [
    flood,
    readFileSync('samples/rocket.jpg').subarray(0, 5000),
    Buffer.from('no picture'),
  ])
    await t.rejects(extractor.decodePicture(bytes), { code: 'image_unreadable', status: 400 });
  await t.rejects(extractor.checkPicture(flood, {}), { code: 'image_unreadable' });
  await t.rejects(extractor.decodePicture(flood, { signal: AbortSignal.abort(new Error('left')) }), /left/);
});

t.test('what a small text or picture contains is read when it is opened', async (t) => {
  const picture = await sharp({ create: { width: 90, height: 60, channels: 3, background: '#336699' } })
    .png()
    .toBuffer();
  for (const bytes of [Buffer.from('# Tides\n\nThe sea comes twice a day.\n'), picture]) {
    const path = file(bytes);
    const again = await read(path);
    const info = await extractor.open(path, {});
    rmSync(path);
    t.same(await extractor.extract(path, info), { ...again, fileInfo: info });
    await t.rejects(extractor.extract(path, info), { code: 'ENOENT' }, 'it is not kept for a second time');
  }
});

t.test('a long text is read by its job, and a damaged picture refused when it is opened', async (t) => {
  const path = file('A line about herons.\n'.repeat(4_000));
  const info = await extractor.open(path, {});
  t.match((await extractor.extract(path, info)).blocks[0]?.text, /herons/);
  const again = await extractor.open(path, {});
  rmSync(path);
  await t.rejects(extractor.extract(path, again), { code: 'ENOENT' });
  const noise = await sharp({
    create: {
      width: 400,
      height: 300,
      channels: 3,
      background: '#000',
      noise: { type: 'gaussian', mean: 128, sigma: 40 },
    },
  })
    .png()
    .toBuffer();
  await t.rejects(extractor.open(file(noise.subarray(0, noise.length / 2)), {}), { code: 'file_corrupt' });
});

t.test('a file that breaks its reader harms no other file', async (t) => {
  const others = readers();
  const fragile = started(t, { filesPerProcess: 3 });
  const endless = file(hostileFile('endless-forms.pdf'));
  const pdf = { kind: 'document', mediaType: 'application/pdf' } as const;
  // By the one or the other reader: after a killed one, the second may have begun first.
  const isReading = (): Promise<void> =>
    eventually(() =>
      ['extract-0', 'extract-1'].some((name) => readdirSync(join(fragile.scratchFolder, name)).length > 0),
    );
  // Not a text, which would pass the endless file: what such a file takes is not known before.
  const readNext = (options = {}) => fragile.extractor.extract('samples/almanac.pdf', pdf, options);
  const nextIsRead = async (t: Test): Promise<void> => {
    t.match(await readNext(), { title: 'A Small Almanac' });
  };

  await t.test('when a reader dies, its file fails and the waiting one is read', async (t) => {
    const doomed = fragile.extractor.extract(endless, pdf);
    await isReading();
    const reading = readers().filter((pid) => !others.includes(pid));
    const waiting = readNext();
    for (const pid of reading) process.kill(pid, 'SIGKILL');
    await t.rejects(doomed, { code: 'extraction_failed' });
    t.match(await waiting, { title: 'A Small Almanac' });
  });

  await t.test('an aborted file ends at once, also while it waits', async (t) => {
    const controller = new AbortController();
    const aborted = fragile.extractor.extract(endless, pdf, { signal: controller.signal });
    const waiting = new AbortController();
    const neverBegun = readNext({ signal: waiting.signal });
    await isReading();
    waiting.abort(new Error('never'));
    await t.rejects(neverBegun, /never/);
    controller.abort(new Error('no longer wanted'));
    await t.rejects(aborted, /no longer wanted/);
  });

  await t.test('a file that takes too long is refused', { skip: onlyDeep }, async (t) => {
    const impatient = started(t, { extractSecondsMax: 1 });
    await t.rejects(impatient.extractor.extract(endless, pdf), {
      code: 'extraction_timeout',
      facts: { limit_seconds: 1 },
    });
  });

  await t.test('memory over the limit ends the reader', { skip: onlyDeep }, async (t) => {
    await t.rejects(fragile.extractor.extract(file(bombPdf(600)), pdf), {
      code: /extraction_failed|extraction_timeout/,
    });
    await nextIsRead(t);
  });

  await t.test('a reader is replaced after a number of files', { skip: onlyDeep }, async (t) => {
    const starts = (): number => fragile.events.filter((event) => event.event === 'extractor_ready').length;
    const before = starts();
    for (let index = 0; index < 6; index++) await nextIsRead(t);
    t.ok(starts() - before >= 1);
  });
});

const SAMPLES: Readonly<Record<string, object>> = {
  'samples/pdf/GeoTopo-komprimiert.pdf': { fileInfo: { pages: 117 }, title: 'Geometrie und Topologie' },
  'samples/image/Landscape_6.jpg': { fileInfo: { width: 600, height: 450 } },
  'samples/image/Channel_digital_image_CMYK_color.jpg': { fileInfo: { mediaType: 'image/jpeg' } },
  'samples/image/4.webp': { fileInfo: { mediaType: 'image/webp' } },
  'photos/coral/sunflower.bmp': { fileInfo: { mediaType: 'image/bmp', width: 512 } },
  'samples/pdf/libreoffice-writer-password.pdf': { code: 'file_encrypted', status: 422 },
  'samples/image/corrupt-header.jpg': { code: 'file_corrupt', status: 422 },
};

t.test(
  'files of other programs are read, or refused by code',
  { skip: onlyDeep || needsShared },
  async (t) => {
    for (const [path, expected] of Object.entries(SAMPLES))
      t.match(await read(`${SHARED}/${path}`).catch((error: unknown) => error), expected, path);
  },
);

t.test('readers have an empty environment and leave no files', async (t) => {
  const environments = readers().map((pid) => readFileSync(`/proc/${pid}/environ`, 'utf8'));
  t.ok(environments.length >= 3);
  t.ok(environments.every((environment) => environment === ''));
  for (const reader of readdirSync(scratchFolder))
    t.same(readdirSync(join(scratchFolder, reader)), [], reader);
  await extractor.close();
  t.same(readers(), [], 'closing ends them');
  await t.rejects(extractor.open('samples/tea.txt', {}), { code: 'interrupted' });
});

/** Process ids of the readers of this process. */
function readers(): number[] {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .filter(Boolean)
    .map(Number);
  return children.filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('/reader-'));
}
