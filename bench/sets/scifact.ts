import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Encoder } from '../../src/encode/encoder.ts';
import { readBeirSet } from './beir.ts';

/** SciFact (Wadden et al. 2020, arXiv:2004.14974) in the split that BEIR judges: claims, abstracts, and which belong together. */
export interface SciFact {
  readonly abstracts: readonly { readonly id: string; readonly title: string; readonly text: string }[];
  readonly claims: readonly {
    readonly id: string;
    readonly text: string;
    readonly relevant: ReadonlySet<string>;
  }[];
}

export async function readSciFact(folder: string): Promise<SciFact> {
  const { documents, queries, judgements } = await readBeirSet(folder);
  const relevant = (id: string) =>
    new Set([...judgements.get(id)!].filter(([, grade]) => grade > 0).map(([document]) => document));
  return {
    abstracts: documents,
    claims: queries.map(({ id, text }) => ({ id, text, relevant: relevant(id) })),
  };
}

/** Passages of all abstracts with their vectors; kept in the cache folder, since they take minutes. */
export interface EncodedPassages {
  /** Index of each passage's abstract. */
  readonly owners: Uint32Array;
  readonly dimensions: number;
  /** Row by row. */
  readonly vectors: Float32Array;
}

export async function encodePassages(
  encoder: Encoder,
  { abstracts }: SciFact,
  cacheFolder: string,
): Promise<EncodedPassages> {
  const space = encoder.spaces.find(({ name }) => name === 'text_semantic');
  if (!space) throw new Error('there is no text model to calibrate');
  const path = join(cacheFolder, `scifact-${space.modelSha256}`);
  const { dimensions } = space;
  if (existsSync(`${path}.owners`)) {
    const owners = new Uint32Array((await readFile(`${path}.owners`)).buffer.slice(0));
    return {
      owners,
      dimensions,
      vectors: new Float32Array((await readFile(`${path}.vectors`)).buffer.slice(0)),
    };
  }
  const owners: number[] = [];
  const rows: Float32Array[] = [];
  for (const [index, { title, text }] of abstracts.entries()) {
    const passages = await encoder.cutPassages({ title, blocks: [{ text }] });
    const { text_semantic: vectors = [] } = await encoder.encodeIngest(
      'text',
      passages.map(({ words }) => words),
      { tenant: 'calibration' },
    );
    for (const vector of vectors) {
      owners.push(index);
      rows.push(vector);
    }
    if (index % 100 === 99) process.stderr.write(`\r${index + 1} of ${abstracts.length} abstracts encoded`);
  }
  const vectors = new Float32Array(rows.length * dimensions);
  rows.forEach((row, index) => {
    vectors.set(row, index * dimensions);
  });
  await mkdir(cacheFolder, { recursive: true });
  await writeFile(`${path}.vectors`, new Uint8Array(vectors.buffer));
  await writeFile(`${path}.owners`, new Uint8Array(Uint32Array.from(owners).buffer));
  return { owners: Uint32Array.from(owners), dimensions, vectors };
}
