/**
 * The curve of confidence that a picture found by another is the same one: `fit.py` fits it on `photos` and, where `make bench-data` brought them,
 * `stamps`, which has several pictures of one kind.
 *
 * Each picture is asked for by those changed copies that its fingerprint does not tell, in indexes of SIZES, and with itself where the
 * index has others alone: any, or among them the one that looks most like it. All are judged by the manifest's curve, and
 * by one that was fitted without the picture that is asked with.
 */
import { basename } from 'node:path';
import sharp, { type Sharp } from 'sharp';
import manifest from '../../models/manifest.json' with { type: 'json' };
import type { Encoder } from '../../src/engine/encode/encoder.ts';
import { openEncoder } from '../../src/engine/encode/open-encoder.ts';
import { cosine } from '../../src/engine/encode/workers/choose.ts';
import { contentOf } from '../../src/readers/picture/picture-content.ts';
import { CHANGES, type Photograph, pixelsOf, readPhotographs } from '../sets/photographs.ts';
import { whereOf } from '../sets/where.js';
import { ENCODER } from './encoder.ts';
import { fitted } from './fitted.ts';

const SETS = ['photos', 'stamps'];
const SIZES = [1, 2, 4, 10, 20];
/** As in native/core/src/picture/fingerprint.rs. */
const NEAR_BITS_MAX = 20;
const ASKED = { tenant: 'calibration' };

type Kind = 'copies' | 'strangers' | 'look-alikes';

/** One search: the cosine of each hit, the one that is meant or looks most like it first. */
interface Asked {
  readonly set: string;
  readonly picture: number;
  readonly kind: Kind;
  readonly change: string;
  readonly size: number;
  readonly cosines: readonly number[];
}

const encoder = await openEncoder(ENCODER);
export let facts = {};
try {
  const sets = SETS.flatMap((name) => whereOf(name) ?? []);
  if (sets.length === 0) throw new Error('neither photos nor stamps are here: make bench-data');
  const asked: Asked[] = [];
  for (const folder of sets) asked.push(...(await searchesOf(encoder, folder)));
  const now = manifest.models.find(({ name }) => name === 'mobilenet-v2')!.lists.visual_picture!.calibration!;
  facts = fitted('sameness', {
    searches: asked,
    manifest: now,
    answeredMin: manifest.fusion.answered_min,
  });
} finally {
  await encoder.close();
}

async function searchesOf(encoder: Encoder, folder: string): Promise<Asked[]> {
  const spec = encoder.pictureSpec!;
  const pictures = await readPhotographs(folder);
  const vectorOf = async (picture: Photograph, change?: string) =>
    (await encoder.encodeQuery('picture', await pixelsOf(picture, spec, change), ASKED)).visual_picture!;
  const stored: Float32Array[] = [];
  const prints: Uint8Array[] = [];
  for (const picture of pictures) {
    stored.push(await vectorOf(picture));
    prints.push(await fingerprintOf(sourceOf(picture)));
  }
  const isNear = (one: Uint8Array, other: Uint8Array) => differingBits(one, other) <= NEAR_BITS_MAX;
  const searches: Asked[] = [];
  for (const [picture, photograph] of pictures.entries()) {
    const others = [...pictures.keys()].filter(
      (at) => at !== picture && !isNear(prints[at]!, prints[picture]!),
    );
    const some = (count: number, start: number, from = others) =>
      Array.from({ length: count }, (_, at) => from[(7 * picture + start + 3 * at) % from.length]!);
    const ask = (kind: Kind, change: string, vector: Float32Array, rows: readonly number[]) => {
      const cosines = rows.map((row) => cosine(vector, stored[row]!));
      // A search whose picture is absent is judged by its first hit.
      if (kind !== 'copies') cosines.sort((a, b) => b - a);
      searches.push({ set: basename(folder), picture, kind, change, size: rows.length, cosines });
    };
    for (const [change, apply] of Object.entries(CHANGES)) {
      const print = await fingerprintOf(await apply(sourceOf(photograph), photograph));
      if (isNear(print, prints[picture]!)) continue;
      const vector = await vectorOf(photograph, change);
      for (const size of SIZES) ask('copies', change, vector, [picture, ...some(size - 1, size)]);
    }
    const own = stored[picture]!;
    const [alike] = others.toSorted((a, b) => cosine(own, stored[b]!) - cosine(own, stored[a]!));
    for (const size of SIZES) {
      ask('strangers', '', own, some(size, size));
      const rest = others.filter((at) => at !== alike);
      ask('look-alikes', '', own, [alike!, ...some(size - 1, size, rest)]);
    }
  }
  return searches;
}

function sourceOf({ rgb, width, height }: Photograph): Sharp {
  return sharp(rgb, { raw: { width, height, channels: 3 } });
}

async function fingerprintOf(picture: Sharp): Promise<Uint8Array> {
  const { data, info } = await picture.removeAlpha().raw().toBuffer({ resolveWithObject: true });
  const { width, height, channels } = info;
  const pipeline = () => sharp(data, { raw: { width, height, channels } });
  const { fingerprint } = await contentOf({ width, height, pipeline }, undefined, {
    digest: new Uint8Array(),
  });
  return fingerprint;
}

function differingBits(one: Uint8Array, other: Uint8Array): number {
  let count = 0;
  for (let at = 0; at < one.length; at++)
    for (let bits = one[at]! ^ other[at]!; bits > 0; bits >>= 1) count += bits & 1;
  return count;
}
