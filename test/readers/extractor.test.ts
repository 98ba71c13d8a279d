import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import t, { type Test } from 'tap';
import { EXTRACT_LIMITS, type ExtractLimits } from '../../src/protocol/document.ts';
import { READABLE_TYPES } from '../../src/readers/formats.ts';
import { eventually } from '../rig/eventually.ts';
import { testExtractor } from '../rig/readers.ts';
import { zipOf } from './samples/archives.ts';
import { encodedIn } from './samples/encoded-in.ts';
import {
  bombPdf,
  emptyPdf,
  laughingPdf,
  millionPagesPdf,
  pixelFlood,
  scriptedPdf,
} from './samples/hostile.ts';

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

t.test('text, Markdown and HTML give their sections and titles', async (t) => {
  t.match(await read('samples/tea.txt'), {
    fileInfo: { mediaType: 'text/plain' },
    title: 'Brewing green tea',
    blocks: [{ text: /^Green tea turns bitter/ }],
  });
  t.match(await read('samples/lighthouses.md'), {
    fileInfo: { mediaType: 'text/markdown' },
    title: 'Lighthouses',
    blocks: [{}, { heading: 'The Fresnel lens' }, { heading: 'Keepers' }, { heading: 'Foghorns' }],
  });
  t.match(await read(file('<!doctype html><title>T</title><p>Words.')), {
    fileInfo: { mediaType: 'text/html' },
    title: 'T',
    blocks: [{ text: 'Words.' }],
  });
  const long = 'Some words of a long text. '.repeat(20_000);
  const { blocks } = await read(file(long));
  t.equal(
    blocks.map(({ text }) => text.trim()).join(' '),
    long.trim(),
    'a long text comes in pieces, and complete',
  );
});

t.test('a guessed character set is named, and is what was not read; a stated one is not', async (t) => {
  const words = 'Корабль стоял в гавани до утра, и никто не знал, куда он пойдёт дальше. ';
  const guessed = await read(file(encodedIn('windows-1251', words.repeat(5))));
  t.same(guessed.fileInfo.charset, { name: 'windows-1251', guessed: true });
  t.same(guessed.notRead, [{ what: 'charset', why: 'guessed' }]);
  const stated = await read(file(words));
  t.same(stated.fileInfo.charset, { name: 'utf-8', guessed: false });
  t.same(stated.notRead, []);
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

t.test('the type comes from the content, whatever the name says', async (t) => {
  t.match(await extractor.open(file(readFileSync('samples/rocket.jpg'), 'x.txt'), { name: 'x.txt' }), {
    mediaType: 'image/jpeg',
  });
  t.match(await extractor.open(file('words', 'x.pdf'), { name: 'x.pdf' }), { mediaType: 'text/plain' });
  t.match(await extractor.open(file('BMW and MZ are text', 'x'), {}), { mediaType: 'text/plain' });
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

t.test('a file cut off at any tenth is read or refused by code', async (t) => {
  const open = (path: string) => extractor.open(path, {});
  const kinds = ['image/G31D_MULTI.TIF', 'image/animated-loop-3.gif', 'image/example.avif'];
  const cutShared = [...kinds, 'video/bottle-detection.mp4', 'audio/jfk.flac'];
  for (const [names, look, lawful] of [
    [['samples/rocket.jpg', 'samples/chelsea.png'], read, ['file_corrupt']],
    [['samples/almanac.pdf'], read, ['taken', 'file_corrupt']],
    [
      needsShared ? [] : cutShared.map((name) => `${SHARED}/samples/${name}`),
      open,
      ['taken', 'file_corrupt'],
    ],
  ] as const) {
    for (const name of names) {
      const bytes = readFileSync(name);
      for (let tenth = 1; tenth < 10; tenth++) {
        const outcome = await look(file(bytes.subarray(0, (bytes.length * tenth) / 10))).then(
          () => 'taken',
          (error: { code: string }) => error.code,
        );
        t.ok((lawful as readonly string[]).includes(outcome), `${name} at ${tenth}/10: ${outcome}`);
      }
    }
  }
});

t.test('claims over a limit are refused before anything is decoded', async (t) => {
  await t.rejects(extractor.open(file(pixelFlood(60_000, 60_000)), {}), {
    code: 'document_too_large',
    facts: { pixels: 3_600_000_000 },
  });
  await t.rejects(extractor.open(file(millionPagesPdf()), {}), {
    code: 'document_too_large',
    facts: { limit_pages: EXTRACT_LIMITS.pagesMax },
  });
  const sparse = file('x');
  truncateSync(sparse, 5 * 2 ** 30);
  await t.rejects(extractor.open(sparse, {}), { code: 'file_too_large', facts: { bytes: 5 * 2 ** 30 } });
  const flood = Buffer.from(readFileSync('samples/rocket.jpg'));
  await t.rejects(extractor.decodePicture(pixelFlood(60_000, 60_000)), { code: 'image_unreadable' });
  await t.rejects(extractor.decodePicture(flood.subarray(0, 5000)), {
    code: 'image_unreadable',
    status: 400,
  });
  await t.rejects(extractor.checkPicture(pixelFlood(60_000, 60_000), {}), { code: 'image_unreadable' });
  await t.rejects(extractor.checkPicture(Buffer.from('no picture'), {}), { code: 'image_unreadable' });
  await t.rejects(
    extractor.decodePicture(pixelFlood(60_000, 60_000), { signal: AbortSignal.abort(new Error('left')) }),
    /left/,
  );
  await t.rejects(extractor.decodePicture(Buffer.from('no picture')), { code: 'image_unreadable' });
  await t.rejects(extractor.decodePicture(new Uint8Array()), { code: 'image_unreadable' });
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

t.test('the text of a PDF is read, its scripts do not run', async (t) => {
  t.match(await read(file(scriptedPdf('Harmless words of a page'))), {
    blocks: [{ text: 'Harmless words of a page', page: 1 }],
  });
});

t.test('a file that breaks its reader harms no other file', async (t) => {
  const others = readers();
  const fragile = started(t, { filesPerProcess: 3 });
  const endless = file(laughingPdf(12));
  const pdf = { kind: 'document', mediaType: 'application/pdf' } as const;
  const isReading = (): Promise<void> =>
    eventually(() => readdirSync(join(fragile.scratchFolder, 'extract-0')).length > 0);
  const nextIsRead = async (t: Test): Promise<void> => {
    t.match(await fragile.extractor.extract('samples/almanac.pdf', pdf), { title: 'A Small Almanac' });
  };

  await t.test('when a reader dies, its file fails and the waiting one is read', async (t) => {
    const doomed = fragile.extractor.extract(endless, pdf);
    await isReading();
    // Before the other file comes: a second reader may be started for that.
    const reading = readers().filter((pid) => !others.includes(pid));
    const waiting = fragile.extractor.extract('samples/tea.txt', { kind: 'text', mediaType: 'text/plain' });
    for (const pid of reading) process.kill(pid, 'SIGKILL');
    await t.rejects(doomed, { code: 'extraction_failed' });
    t.match(await waiting, { title: 'Brewing green tea' });
  });

  await t.test('an aborted file ends at once, also while it waits', async (t) => {
    const controller = new AbortController();
    const aborted = fragile.extractor.extract(endless, pdf, { signal: controller.signal });
    const waiting = new AbortController();
    const neverBegun = fragile.extractor.extract(
      'samples/tea.txt',
      { kind: 'text', mediaType: 'text/plain' },
      { signal: waiting.signal },
    );
    await isReading();
    waiting.abort(new Error('never'));
    await t.rejects(neverBegun, /never/);
    controller.abort(new Error('no longer wanted'));
    await t.rejects(aborted, /no longer wanted/);
  });

  await t.test('a file that takes too long is refused', async (t) => {
    const impatient = started(t, { extractSecondsMax: 1 });
    await t.rejects(impatient.extractor.extract(endless, pdf), {
      code: 'extraction_timeout',
      facts: { limit_seconds: 1 },
    });
  });

  await t.test('memory over the limit ends the reader', async (t) => {
    await t.rejects(fragile.extractor.extract(file(bombPdf(600)), pdf), {
      code: /extraction_failed|extraction_timeout/,
    });
    await nextIsRead(t);
  });

  await t.test('a reader is replaced after a number of files', async (t) => {
    const starts = (): number => fragile.events.filter((event) => event.event === 'extractor_ready').length;
    const before = starts();
    for (let index = 0; index < 6; index++) await nextIsRead(t);
    t.ok(starts() - before >= 1);
  });
});

t.test('samples of every kind are read', { skip: needsShared }, async (t) => {
  const long = await read(`${SHARED}/samples/pdf/GeoTopo-komprimiert.pdf`);
  t.match(long, { fileInfo: { pages: 117 }, title: 'Geometrie und Topologie' });
  t.ok(
    long.blocks.length > 110 &&
      long.pictures.length > 0 &&
      long.pictures.length <= EXTRACT_LIMITS.pagePicturesMax,
  );
  const scan = await read(`${SHARED}/samples/pdf/MEDRPT-2024-PAT-3847_medical_report_scan.pdf`);
  t.same(
    scan.pictures.map(({ page }) => page),
    [1, 2, 3],
    'the pages of a scan become pictures',
  );
  t.match(await read(`${SHARED}/samples/pdf/pdflatex-4-pages.pdf`), { fileInfo: { pages: 4 } });
  await t.rejects(read(`${SHARED}/samples/pdf/libreoffice-writer-password.pdf`), {
    code: 'file_encrypted',
    status: 422,
  });
  await t.rejects(read(`${SHARED}/samples/image/corrupt-header.jpg`), { code: 'file_corrupt', status: 422 });
  t.match(await read(`${SHARED}/samples/image/Landscape_6.jpg`), { fileInfo: { width: 600, height: 450 } });
  t.match(await read(`${SHARED}/samples/image/Channel_digital_image_CMYK_color.jpg`), {
    fileInfo: { mediaType: 'image/jpeg' },
  });
  t.match(await read(`${SHARED}/samples/image/4.webp`), { fileInfo: { mediaType: 'image/webp' } });
  t.match(await read(`${SHARED}/photos/coral/sunflower.bmp`), {
    fileInfo: { mediaType: 'image/bmp', width: 512 },
  });
  t.match(await read(`${SHARED}/samples/office/test.pptx`), { fileInfo: { pages: 6, pageKind: 'slide' } });
});

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
  return children.filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('/src/readers/'));
}
