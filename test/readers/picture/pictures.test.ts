import { existsSync } from 'node:fs';
import sharp from 'sharp';
import t from 'tap';
import { EXTRACT_LIMITS, type PictureContent } from '../../../src/protocol/document.ts';
import { readPictures } from '../../../src/readers/picture/picture-sequence.ts';
import { testExtractor } from '../../rig/readers.ts';

const SAMPLES = '../shared/data/samples';
const needsShared = existsSync(SAMPLES) ? false : 'the shared sample files are not here';

const { read } = testExtractor(t);

t.test(
  'an animation gives shots with times, any other picture one content',
  { skip: needsShared },
  async (t) => {
    const loop = await read(`${SAMPLES}/image/animated-loop-3.gif`);
    t.ok(loop.fileInfo.duration_s! > 0);
    t.equal(loop.pictures[0]!.time_s, 0);
    t.equal(loop.pictures.at(-1)!.time_end_s, loop.fileInfo.duration_s);
    t.match(await read(`${SAMPLES}/image/example.avif`), {
      fileInfo: { mediaType: 'image/avif' },
      pictures: { length: 1 },
    });
  },
);

t.test('frames decoded in strips look like frames decoded alone', async (t) => {
  const frames = Array.from({ length: 30 }, (_, at) =>
    sharp(
      Buffer.from(
        `<svg xmlns="http://www.w3.org/2000/svg" width="120" height="90"><rect width="120" height="90" fill="#ddd"/><circle cx="${10 + at * 3}" cy="${80 - at * 2}" r="${8 + at}" fill="#1${(at % 10).toString()}4"/></svg>`,
      ),
    )
      .png()
      .toBuffer(),
  );
  const gif = await sharp(await Promise.all(frames), { join: { animated: true } })
    .gif({ delay: Array.from({ length: 30 }, () => 100), loop: 0 })
    .toBuffer();
  const all = async (pixelsMax: number) => {
    const contents: PictureContent[] = [];
    const spec = { width: 32, height: 32, fit: 'cover', resample: 'cubic' } as const;
    const limits = { ...EXTRACT_LIMITS, pixelsMax };
    for await (const { content } of readPictures(gif, 'image/gif', limits, spec, () => undefined))
      if (content) contents.push(content);
    return contents;
  };
  const strips = await all(EXTRACT_LIMITS.pixelsMax);
  t.same(
    strips.map(({ time_s }) => time_s),
    Array.from({ length: 30 }, (_, at) => at / 10),
  );
  t.equal(new Set(strips.map(({ digest }) => Buffer.from(digest).toString('hex'))).size, 30);
  // Limits by which each frame is decoded alone, and by which a strip has seven.
  for (const pixelsMax of [120 * 90, 7 * 120 * 90]) {
    const others = await all(pixelsMax);
    for (const [at, { fingerprint, pixels }] of others.entries()) {
      const bits = strips[at]!.fingerprint.reduce(
        (sum, byte, index) => sum + (byte ^ fingerprint[index]!).toString(2).replaceAll('0', '').length,
        0,
      );
      t.ok(bits <= 4, `frame ${at}: ${bits} bits`);
      t.equal(pixels.rgb.length, 32 * 32 * 3);
    }
  }
});
