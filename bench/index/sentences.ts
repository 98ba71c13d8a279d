import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { openEncoder } from '../../src/encode/open-encoder.ts';
import { readSciFact } from '../sets/scifact.ts';

/** Rows of one space, row by row, and queries that were made by the same model. */
export interface BenchVectors {
  readonly dimensions: number;
  readonly rows: Float32Array;
  readonly queries: Float32Array;
}

const ROOT = resolve(import.meta.dirname, '../..');
const SCIFACT = resolve(ROOT, '../shared/data/text/scifact');
/** Texts that are encoded with one call: enough to keep the worker busy. */
const TEXTS_PER_CALL = 64;

/** True when the texts are there; without them there is nothing real to measure. */
export const hasSciFact = (): boolean => existsSync(SCIFACT);

/**
 * Sentences of SciFact's abstracts and its 300 claims, encoded by the installed text model. The first call encodes, which
 * takes minutes unless `sentencesMax` says less; the vectors are kept in `cacheFolder` under the model's SHA-256.
 */
export async function sentenceVectors(cacheFolder: string, sentencesMax: number): Promise<BenchVectors> {
  const encoder = await openEncoder({
    modelsFolder: join(ROOT, 'models'),
    cacheFolder,
    queryWorkers: 1,
    ingestWorkers: 1,
    queryQueueMax: 64,
    ingestQueueMax: 64,
    log: () => {},
  });
  try {
    const space = encoder.spaces.find(({ name }) => name === 'text_semantic');
    if (!space) throw new Error('there is no text model');
    const { abstracts, claims } = await readSciFact(SCIFACT);
    const encode = async (name: string, texts: readonly string[]) => {
      const path = join(cacheFolder, `${name}-${space.modelSha256}.f32`);
      if (existsSync(path)) return new Float32Array((await readFile(path)).buffer.slice(0));
      const vectors = new Float32Array(texts.length * space.dimensions);
      for (let from = 0; from < texts.length; from += TEXTS_PER_CALL) {
        const { text_semantic: rows = [] } = await encoder.encodeIngest(
          'text',
          texts.slice(from, from + TEXTS_PER_CALL),
          { tenant: 'bench' },
        );
        for (const [index, row] of rows.entries()) vectors.set(row, (from + index) * space.dimensions);
        process.stderr.write(`\r${from} of ${texts.length} sentences encoded`);
      }
      await mkdir(cacheFolder, { recursive: true });
      await writeFile(path, new Uint8Array(vectors.buffer));
      return vectors;
    };
    const sentences = abstracts.flatMap(({ text }) => sentencesOf(text)).slice(0, sentencesMax);
    const claimTexts = claims.map(({ text }) => text);
    return {
      dimensions: space.dimensions,
      rows: await encode(`sentences-${sentences.length}`, sentences),
      queries: await encode('claims', claimTexts),
    };
  } finally {
    await encoder.close();
  }
}

export function sentencesOf(text: string): string[] {
  const sentences = new Intl.Segmenter('en', { granularity: 'sentence' }).segment(text);
  return [...sentences].map(({ segment }) => segment.trim()).filter((sentence) => sentence.length > 10);
}
