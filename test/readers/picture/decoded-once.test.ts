import sharp, { type Sharp } from 'sharp';
import t from 'tap';
import { EXTRACT_LIMITS } from '../../../src/protocol/document.ts';
import { greyOfSource } from '../../../src/readers/picture/grey.ts';
import { contentOf } from '../../../src/readers/picture/picture-content.ts';
import { decodedOnce, openSource } from '../../../src/readers/picture/picture-source.ts';
import { Random } from '../../rig/random.ts';

const SPEC = { width: 224, height: 224, fit: 'cover', resample: 'cubic' } as const;
const random = new Random(7);

/** Noise over a gradient: every rounding shows. */
function pixels(width: number, height: number, channels: 1 | 2 | 3 | 4): Sharp {
  const data = Buffer.from(
    Array.from({ length: width * height * channels }, (_, at) => (at + random.below(97)) % 256),
  );
  return sharp(data, { raw: { width, height, channels } });
}

t.test('a picture that is decoded once gives the bytes that decoding it for each use gives', async (t) => {
  const pictures: [string, Promise<Buffer>, kept: boolean][] = [
    ['colours', pixels(301, 200, 3).png().toBuffer(), true],
    ['transparent colours', pixels(640, 97, 4).png().toBuffer(), true],
    ['fewer pixels than are wanted', pixels(40, 31, 4).png().toBuffer(), true],
    ['to be rotated', pixels(300, 120, 3).withMetadata({ orientation: 6 }).png().toBuffer(), false],
    ['a palette', pixels(200, 150, 3).png({ palette: true, colours: 16 }).toBuffer(), true],
    ['grey', pixels(200, 150, 1).toColourspace('b-w').png().toBuffer(), true],
    ['transparent grey', pixels(200, 150, 2).toColourspace('b-w').png().toBuffer(), false],
    ['sixteen bits', pixels(200, 150, 3).toColourspace('rgb16').png().toBuffer(), false],
    ['with a profile', pixels(200, 150, 3).withIccProfile('p3').png().toBuffer(), true],
    ['a photograph', pixels(400, 300, 3).jpeg().toBuffer(), false],
  ];
  for (const [name, file, kept] of pictures) {
    const bytes = await file;
    const { format } = await sharp(bytes).metadata();
    const source = await openSource(bytes, `image/${format}`, EXTRACT_LIMITS);
    const once = await decodedOnce(source);
    t.equal(once !== source, kept, `${name} is decoded ${kept ? 'once' : 'for each use'}`);
    const place = { digest: new Uint8Array(32) };
    const [a, b] = [await contentOf(source, SPEC, place), await contentOf(once, SPEC, place)];
    t.ok(a.pixels.rgb.length === SPEC.width * SPEC.height * 3, name);
    t.ok(Buffer.from(a.pixels.rgb).equals(b.pixels.rgb), `${name}: what the model sees`);
    t.same(b.fingerprint, a.fingerprint, `${name}: the fingerprint`);
    t.same([b.width, b.height], [a.width, a.height]);
    const [grey, same] = [await greyOfSource(source, 256), await greyOfSource(once, 256)];
    t.ok(Buffer.from(grey.grey).equals(same.grey), `${name}: what is judged`);
  }
});
