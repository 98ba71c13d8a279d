import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative } from 'node:path';
import { decode } from 'fast-bmp';
import sharp, { type Sharp } from 'sharp';
import type { PictureSpec } from '../../src/protocol/document.ts';

/** A photograph in full size, 8-bit sRGB. */
export interface Photograph {
  readonly name: string;
  readonly caption: string | undefined;
  readonly rgb: Buffer;
  readonly width: number;
  readonly height: number;
}

/** Pictures of a folder and of the folders in it; `captions.json` says by their paths what is on them. */
export async function readPhotographs(folder: string): Promise<Photograph[]> {
  const captions = JSON.parse(await readFile(join(folder, 'captions.json'), 'utf8')) as Record<
    string,
    string
  >;
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const pictures = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((name) => /\.(png|jpe?g|bmp|webp)$/i.test(name))
    .sort();
  return Promise.all(
    pictures.map(async (name) => {
      const source = await open(join(folder, name));
      const flat = source.autoOrient().flatten({ background: '#fff' }).toColourspace('srgb').removeAlpha();
      const { data, info } = await flat.raw().toBuffer({ resolveWithObject: true });
      return { name, caption: captions[name], rgb: data, width: info.width, height: info.height };
    }),
  );
}

/** A file name that says nothing, and another for each: pictures are found by their names, too. */
export function plainNameOf({ name }: Photograph, photographs: readonly Photograph[]): string {
  const at = photographs.findIndex((photograph) => photograph.name === name);
  return `IMG_${1000 + 37 * at}${extname(name)}`;
}

async function open(path: string): Promise<Sharp> {
  const bytes = await readFile(path);
  if (!path.endsWith('.bmp')) return sharp(bytes);
  const { data, width, height, channels } = decode(bytes);
  if (channels !== 3 && channels !== 4) throw new Error(`${path} has ${channels} channels`);
  if (!ArrayBuffer.isView(data)) throw new Error(`${path} has no pixels`);
  const pixels = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  return sharp(pixels, { raw: { width, height, channels } });
}

/** Changes that a copy of a photograph may have gone through. */
export const CHANGES: Readonly<
  Record<string, (sharp: Sharp, photograph: Photograph) => Sharp | Promise<Sharp>>
> = {
  crop_half_area: (source, { width, height }) => source.extract(centre(width, height, Math.SQRT1_2)),
  crop_half_side: (source, { width, height }) => source.extract(centre(width, height, 0.5)),
  grey: (source) => source.greyscale().toColourspace('srgb'),
  mirror: (source) => source.flop(),
  blur: (source) => source.blur(3),
  turn: (source) => source.rotate(5, { background: '#fff' }),
  dark: (source) => source.modulate({ brightness: 0.6 }),
  scale: (source, { width, height }) => source.resize(half(width), half(height), { fit: 'fill' }),
  overlay: (source, { width, height }) => {
    const bar = {
      width,
      height: Math.max(1, Math.round(height / 6)),
      channels: 3 as const,
      background: '#fff',
    };
    return source.composite([{ input: { create: bar }, gravity: 'south' }]);
  },
  jpeg: async (source) => sharp(await source.jpeg({ quality: 30 }).toBuffer()),
};

const half = (side: number) => Math.max(1, Math.round(side / 2));

function centre(width: number, height: number, share: number) {
  const [w, h] = [Math.max(1, Math.round(width * share)), Math.max(1, Math.round(height * share))];
  return { left: (width - w) >> 1, top: (height - h) >> 1, width: w, height: h };
}

/** The sRGB bytes of a photograph as a model wants it, after a change. */
export async function pixelsOf(
  photograph: Photograph,
  spec: PictureSpec,
  change?: string,
): Promise<Uint8Array> {
  const { rgb, width, height } = photograph;
  const source = sharp(rgb, { raw: { width, height, channels: 3 } });
  const changed = change ? await CHANGES[change]!(source, photograph) : source;
  // A turn or a crop must be done before the scaling: sharp would put them in its own order.
  const { data, info } = await changed.removeAlpha().raw().toBuffer({ resolveWithObject: true });
  const scaled = sharp(data, {
    raw: { width: info.width, height: info.height, channels: info.channels as 1 | 3 },
  })
    .resize(spec.width, spec.height, { fit: spec.fit, kernel: spec.resample, background: '#fff' })
    .toColourspace('srgb');
  return scaled.raw().toBuffer();
}
