/**
 * Fits the map that takes queries of multilingual-e5-small into MiniLM's space (`src/engine/encode/text/translation.ts`), on English texts that both
 * models know: the labels of pictures, alone and in their sentence, and titles and queries of the collections of SETS. It is written to
 * FILE, and nothing else is changed: the manifest has its checksum. How well it does with captions is `make bench NAME=quality`.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { openEncoder, openPreviousEncoder } from '../../src/engine/encode/open-encoder.ts';
import { mean } from '../rig/retrieval.ts';
import { readBeirSet, setFolder } from '../sets/beir.ts';
import { ENCODER } from './encoder.ts';

/** Pull of the map towards 0: of .03, .1, .3 and 1 the one with the nearest texts that it was not fitted on. */
const RIDGE = 0.3;
/** One in so many texts is left out, to see how near it comes. */
const LEFT_OUT = 5;
const TITLES = 600;

const root = join(import.meta.dirname, '../..');
const tenant = 'translation';

interface Pair {
  readonly from: Float32Array;
  readonly into: Float32Array;
}

const texts = [...labels(), ...(await collections())];
const into = await openEncoder(ENCODER);
const from = into.otherLanguages && (await openPreviousEncoder(ENCODER, into.otherLanguages));
if (!from) throw new Error('there is no model for other languages');
const pairs: Pair[] = [];
try {
  for (const text of texts) {
    const [own, other] = await Promise.all(
      [into, from].map(
        async (encoder) => (await encoder.encodeQuery('text', text, { tenant })).text_semantic!,
      ),
    );
    pairs.push({ into: own!, from: other! });
  }
} finally {
  await Promise.all([into.close(), from.close()]);
}
const isLeftOut = (_: Pair, at: number) => at % LEFT_OUT === 0;
const trial = fitted(pairs.filter((pair, at) => !isLeftOut(pair, at)));
const cosines = pairs.filter(isLeftOut).map((pair) => cosine(taken(trial, pair.from), pair.into));
const map = fitted(pairs);
const bytes = new Uint8Array(map.buffer);
writeFileSync(resolve(process.env.FILE || join(root, 'models/multilingual-e5-small/into_minilm.f32')), bytes);
export const facts = {
  texts: texts.length,
  left_out: { texts: cosines.length, cosine: Number(mean(cosines).toFixed(4)) },
  bytes: bytes.length,
  sha256: createHash('sha256').update(bytes).digest('hex'),
};
console.log(JSON.stringify(facts));

function labels(): string[] {
  const lines = readFileSync(join(ENCODER.modelsFolder, 'mobilenet-v2/imagenet_labels.txt'), 'utf8')
    .trim()
    .split('\n');
  return lines.flatMap((line) => [
    `a photo of a ${line.trim()}.`,
    ...line.split(',').map((name) => name.trim()),
  ]);
}

async function collections(): Promise<string[]> {
  const all = await Promise.all(process.env.SETS!.split(',').map((name) => readBeirSet(setFolder(name))));
  return all.flatMap(({ queries, documents }) => [
    ...queries.map(({ text }) => text),
    ...documents.slice(0, TITLES).map(({ title, text }) => title || text.slice(0, 100)),
  ]);
}

/** Ridge regression to a row for each dimension of `from`, and one that is added. */
function fitted(pairs: readonly Pair[]): Float32Array<ArrayBuffer> {
  const [rows, columns] = [pairs[0]!.from.length, pairs[0]!.into.length];
  const centre = (of: (pair: Pair) => Float32Array, width: number) =>
    Float64Array.from({ length: width }, (_, at) => mean(pairs.map((pair) => of(pair)[at]!)));
  const [middle, aim] = [centre((pair) => pair.from, rows), centre((pair) => pair.into, columns)];
  const left = Array.from({ length: rows }, () => new Float64Array(rows));
  const right = Array.from({ length: rows }, () => new Float64Array(columns));
  for (const pair of pairs) {
    const x = pair.from.map((value, at) => value - middle[at]!);
    const y = pair.into.map((value, at) => value - aim[at]!);
    for (let row = 0; row < rows; row += 1) {
      for (let at = 0; at < rows; at += 1) left[row]![at]! += x[row]! * x[at]!;
      for (let at = 0; at < columns; at += 1) right[row]![at]! += x[row]! * y[at]!;
    }
  }
  for (let row = 0; row < rows; row += 1) left[row]![row]! += RIDGE;
  eliminate(left, right);
  const map = new Float32Array((rows + 1) * columns);
  for (const [row, values] of right.entries()) map.set(values, row * columns);
  for (let at = 0; at < columns; at += 1)
    map[rows * columns + at] =
      aim[at]! - right.reduce((sum, values, row) => sum + middle[row]! * values[at]!, 0);
  return map;
}

/** Solves left · x = right, in place: right becomes x. `left` is positive definite, so no pivots are looked for. */
function eliminate(left: readonly Float64Array[], right: readonly Float64Array[]): void {
  for (let at = 0; at < left.length; at += 1) {
    const pivot = left[at]![at]!;
    for (const values of [left[at]!, right[at]!])
      for (let i = 0; i < values.length; i += 1) values[i]! /= pivot;
    for (let row = 0; row < left.length; row += 1) {
      const factor = left[row]![at]!;
      if (row === at || factor === 0) continue;
      for (let i = at; i < left.length; i += 1) left[row]![i]! -= factor * left[at]![i]!;
      for (let i = 0; i < right[row]!.length; i += 1) right[row]![i]! -= factor * right[at]![i]!;
    }
  }
}

function taken(map: Float32Array, vector: Float32Array): Float32Array {
  const width = map.length / (vector.length + 1);
  return Float32Array.from({ length: width }, (_, at) =>
    vector.reduce(
      (sum, value, row) => sum + value * map[row * width + at]!,
      map[vector.length * width + at]!,
    ),
  );
}

function cosine(a: Float32Array, b: Float32Array): number {
  const dot = (one: Float32Array, two: Float32Array) =>
    one.reduce((sum, value, at) => sum + value * two[at]!, 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}
