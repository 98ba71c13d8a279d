import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import sharp from 'sharp';

/** Drawings, and pictures that differ in a letter. */
const LEFT_OUT = /cartoon|symbols|flags|mirror|plastic|roadsigns|dreydl/i;
const SIDE_MIN = 100;

/** Makes a set of the photographs of objects that a drawing program has, by kind, on white. @returns the number of pictures */
export async function makeStampsSet(from: string, to: string): Promise<number> {
  let count = 0;
  for (const entry of readdirSync(from, { recursive: true, withFileTypes: true })) {
    const path = relative(from, join(entry.parentPath, entry.name));
    if (!path.endsWith('.png') || LEFT_OUT.test(path)) continue;
    const picture = sharp(join(from, path));
    const { width, height } = await picture.metadata();
    if (Math.min(width, height) < SIDE_MIN) continue;
    mkdirSync(join(to, dirname(path)), { recursive: true });
    await picture.flatten({ background: '#fff' }).png().toFile(join(to, path));
    count += 1;
  }
  writeFileSync(join(to, 'captions.json'), '{}\n');
  return count;
}
