import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import sharp from 'sharp';

const SAMPLES = resolve(import.meta.dirname, '../../../../../samples');

/**
 * The pictures that the pipeline is compared on: the samples as they are, and one of them in each form that a decoder can get
 * wrong. `npx node test/engine/encode/picture/pictures/cases.ts FOLDER` writes them for reference.py.
 */
export async function pictureCases(): Promise<Map<string, Buffer>> {
  const cases = new Map<string, Buffer>();
  for (const name of ['chelsea.png', 'coffee.png', 'hot_dog.jpg', 'rocket.jpg'])
    cases.set(name, await readFile(join(SAMPLES, name)));
  const coffee = () => sharp(cases.get('coffee.png')!);
  // Stored on its side, with EXIF's orientation.
  const turned = await coffee().rotate(-90).withMetadata({ orientation: 6 }).jpeg({ quality: 95 }).toBuffer();
  cases.set('exif-orientation-6.jpg', turned);
  cases.set(
    'exif-orientation-2.png',
    await coffee().flop().withMetadata({ orientation: 2 }).png().toBuffer(),
  );
  cases.set(
    'cmyk.jpg',
    await coffee().toColourspace('cmyk').withIccProfile('cmyk').jpeg({ quality: 95 }).toBuffer(),
  );
  cases.set('display-p3.png', await coffee().withIccProfile('p3').png().toBuffer());
  // Increasingly transparent from left to right: it differs over black and over white.
  const [width, height] = [600, 400];
  const alpha = Buffer.from(
    Uint8Array.from({ length: width * height }, (_, at) => ((at % width) * 255) / width),
  );
  cases.set(
    'alpha.png',
    await coffee()
      .joinChannel(alpha, { raw: { width, height, channels: 1 } })
      .png()
      .toBuffer(),
  );
  cases.set('grey.png', await coffee().greyscale().png().toBuffer());
  return cases;
}

if (import.meta.main ?? process.argv[1] === import.meta.filename) {
  const folder = process.argv[2];
  if (!folder) throw new Error('usage: npx node test/engine/encode/picture/pictures/cases.ts FOLDER');
  await mkdir(folder, { recursive: true });
  for (const [name, bytes] of await pictureCases()) await writeFile(join(folder, name), bytes);
}
