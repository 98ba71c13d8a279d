import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Random } from '../../test/rig/random.ts';
import { sentenceVectors } from './sentences.ts';

export const DIMENSIONS = 384;
export const K = 30;
/** Scores that are kept of each query: for recall at every depth up to the largest k of a search. */
export const TRUTH = 1000;
/** Length of the noise of a perturbed copy beside a vector of unit length: their cosine is about .93. */
const NOISE = 0.4;

/** The files that every engine of one run reads. */
export interface VectorFiles {
  readonly rows: string;
  readonly queries: string;
  /** For each query its best scores, descending: `TRUTH` of them. */
  readonly truth: string;
  readonly real: number;
}

/** Writes the first `count` rows: real sentences, then perturbed copies of them; the same in every run. */
export async function writeVectors(
  folder: string,
  cache: string,
  count: number,
  { queriesMax, sentencesMax }: { readonly queriesMax: number; readonly sentencesMax: number },
): Promise<VectorFiles> {
  const { rows: sentences, queries } = await sentenceVectors(cache, sentencesMax);
  const available = sentences.length / DIMENSIONS;
  const rows = new Float32Array(count * DIMENSIONS);
  rows.set(sentences.subarray(0, Math.min(count, available) * DIMENSIONS));
  const random = new Random(7);
  for (let row = available; row < count; row += 1) {
    const from = row % available;
    perturb(
      sentences.subarray(from * DIMENSIONS, (from + 1) * DIMENSIONS),
      rows.subarray(row * DIMENSIONS, (row + 1) * DIMENSIONS),
      random,
    );
  }
  const asked = queries.subarray(0, queriesMax * DIMENSIONS);
  const files = {
    rows: join(folder, 'rows.f32'),
    queries: join(folder, 'queries.f32'),
    truth: join(folder, 'truth.f64'),
    real: Math.min(count, available),
  };
  writeFileSync(files.rows, bytesOf(rows));
  writeFileSync(files.queries, bytesOf(asked));
  writeFileSync(files.truth, bytesOf(trueScores(rows, asked)));
  return files;
}

function perturb(row: Float32Array, out: Float32Array, random: Random): void {
  let squares = 0;
  for (let index = 0; index < row.length; index += 1) {
    // About normal, of variance 1: the sum of six uniform numbers.
    let noise = -3;
    for (let part = 0; part < 6; part += 1) noise += random.next();
    const value = row[index]! + (NOISE / Math.sqrt(row.length)) * noise * Math.SQRT2;
    out[index] = value;
    squares += value * value;
  }
  const length = Math.sqrt(squares);
  for (let index = 0; index < out.length; index += 1) out[index]! /= length;
}

/** The best exact scores of each query, by a plain loop in double precision. */
function trueScores(rows: Float32Array, queries: Float32Array): Float64Array {
  const count = rows.length / DIMENSIONS;
  const scores = new Float64Array(count);
  const best = new Float64Array((queries.length / DIMENSIONS) * TRUTH);
  for (let query = 0; query < queries.length; query += DIMENSIONS) {
    for (let row = 0; row < count; row += 1) scores[row] = dot(rows, row * DIMENSIONS, queries, query);
    const descending = scores.toSorted().reverse().subarray(0, TRUTH);
    best.set(descending, (query / DIMENSIONS) * TRUTH);
  }
  return best;
}

/** Products of four dimensions at a time: a single chain of additions would wait for itself. */
export function dot(rows: Float32Array, row: number, queries: Float32Array, query: number): number {
  let [first, second, third, fourth] = [0, 0, 0, 0];
  for (let at = 0; at < DIMENSIONS; at += 4) {
    first += rows[row + at]! * queries[query + at]!;
    second += rows[row + at + 1]! * queries[query + at + 1]!;
    third += rows[row + at + 2]! * queries[query + at + 2]!;
    fourth += rows[row + at + 3]! * queries[query + at + 3]!;
  }
  return first + second + third + fourth;
}

export function readF32(path: string): Float32Array {
  const bytes = readFileSync(path);
  return new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
}

export function readF64(path: string): Float64Array {
  const bytes = readFileSync(path);
  return new Float64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
}

function bytesOf(numbers: Float32Array | Float64Array): Uint8Array {
  return new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
}
