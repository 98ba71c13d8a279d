import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import t from 'tap';
import { EXTRACT_LIMITS } from '../../../src/protocol/document.ts';
import { openSource } from '../../../src/readers/picture/picture-source.ts';
import { openBytes, testExtractor } from '../../rig/readers.ts';

/** The files of this folder were made with pillow-heif 1.1: a red square beside "mizzenport 4711". */
const file = (name: string): Buffer => readFileSync(join(import.meta.dirname, 'heic', name));
const { read } = testExtractor(t, { languages: ['auto'] });

t.test('HEIC is seen, its writing and its caption are read', async (t) => {
  const photo = await read(join(import.meta.dirname, 'heic/caption.heic'));
  t.match(photo, {
    fileInfo: { mediaType: 'image/heic', width: 640, height: 200 },
    pictures: { length: 1 },
  });
  const text = photo.blocks.map((block) => block.text).join('\n');
  t.match(text, 'Caption: A red square beside a word');
  t.match(text, /mizzenport/);
  t.match(await read(join(import.meta.dirname, 'heic/two.heic')), {
    fileInfo: { pages: 2 },
    pictures: { length: 2 },
  });
});

t.test('its pixels are those that were put in, turned and without transparency', async (t) => {
  for (const [name, x, y] of [
    ['caption.heic', 100, 100],
    ['alpha.heic', 100, 100],
    ['upright.heic', 100, 540],
  ] as const) {
    const { pipeline, width } = await openSource(file(name), 'image/heic', EXTRACT_LIMITS);
    const { data, info } = await pipeline().raw().toBuffer({ resolveWithObject: true });
    t.same([info.width, info.channels], [width, 3], name);
    const at = (y * width + x) * 3;
    const [red, green, blue] = data.subarray(at, at + 3);
    t.ok(red! > 150 && green! < 90 && blue! < 90, `${name} is red there`);
  }
  const png = await sharp(file('caption.heic')).metadata();
  t.equal(png.compression, 'hevc');
});

t.test('damaged or too large HEIC is refused before its pixels are decoded', async (t) => {
  const whole = file('caption.heic');
  await t.rejects(openBytes(whole, { pixelsMax: 1000 }), { code: 'document_too_large' });
  await t.rejects(openBytes(whole.subarray(0, 200)), { code: /file_corrupt|media_type_unsupported/ });
  const cut = Buffer.from(whole);
  cut.fill(0xa5, cut.length - 2500);
  const { pipeline } = await openSource(cut, 'image/heic', EXTRACT_LIMITS);
  // A damaged slice may still give pixels; what fails says so.
  const outcome = await Promise.resolve()
    .then(() => pipeline().raw().toBuffer())
    .catch((error: { code?: string }) => error.code);
  t.ok(outcome === 'file_corrupt' || Buffer.isBuffer(outcome), 'nothing else happens');
});
