import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { openEncoder } from '../../src/engine/encode/open-encoder.ts';
import { Random } from '../../test/rig/random.ts';
import { type BeirSet, benchSet } from '../sets/beir.ts';

const MODELS = resolve(import.meta.dirname, '../../models');
/** Texts that are encoded with one call: enough to keep the worker busy. */
const TEXTS_PER_CALL = 64;
/** Words of a passage: what a model with 256 tokens takes. */
const PASSAGE_WORDS = 150;

export const benchEncoder = (cacheFolder: string) =>
  openEncoder({
    modelsFolder: MODELS,
    cacheFolder,
    queryWorkers: 1,
    ingestWorkers: 1,
    queryQueueMax: 512,
    ingestQueueMax: 64,
    log: () => {},
  });

/**
 * Sentences of the set's texts and its queries, encoded by the installed text model, row by row. The first call encodes, which
 * takes minutes unless `sentencesMax` says less; the vectors are kept in `cacheFolder` under the set and the model's SHA-256.
 */
export async function sentenceVectors(
  cacheFolder: string,
  sentencesMax: number,
): Promise<{ readonly rows: Float32Array; readonly queries: Float32Array }> {
  const set = await benchSet();
  const encoder = await benchEncoder(cacheFolder);
  try {
    const space = encoder.spaces.find(({ name }) => name === 'text_semantic');
    if (!space) throw new Error('there is no text model');
    const encode = async (name: string, texts: readonly string[]) => {
      const path = join(cacheFolder, `${set.name}-${name}-${space.modelSha256}.f32`);
      if (existsSync(path)) return new Float32Array((await readFile(path)).buffer.slice(0));
      const vectors = new Float32Array(texts.length * space.dimensions);
      for (let from = 0; from < texts.length; from += TEXTS_PER_CALL) {
        const call = texts.slice(from, from + TEXTS_PER_CALL);
        const { text_semantic: rows = [] } = await encoder.encodeIngest('text', call, { tenant: 'bench' });
        for (const [index, row] of rows.entries()) vectors.set(row, (from + index) * space.dimensions);
        process.stderr.write(`\r${from} of ${texts.length} sentences encoded`);
      }
      await mkdir(cacheFolder, { recursive: true });
      await writeFile(path, new Uint8Array(vectors.buffer));
      return vectors;
    };
    const sentences = sentencesIn(set).slice(0, sentencesMax);
    const queries = set.queries.map(({ text }) => text);
    return {
      rows: await encode(`sentences-${sentences.length}`, sentences),
      queries: await encode('queries', queries),
    };
  } finally {
    await encoder.close();
  }
}

function sentencesIn({ documents }: BeirSet): string[] {
  const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });
  return documents
    .flatMap(({ text }) => [...segmenter.segment(text)].map(({ segment }) => segment.trim()))
    .filter((sentence) => sentence.length > 10);
}

/**
 * As many passages as wanted, each of sentences picked at random from all of the set's texts: real words in their real
 * frequencies, in texts that nobody wrote. The queries are the set's as they are.
 */
export async function recombined(seed: number): Promise<{ passage: () => string; queries: string[] }> {
  const set = await benchSet();
  const sentences = sentencesIn(set);
  const counts = sentences.map((sentence) => sentence.split(/\s+/).length);
  const random = new Random(seed);
  const passage = () => {
    const parts: string[] = [];
    for (let words = 0; words < PASSAGE_WORDS; ) {
      const at = random.below(sentences.length);
      parts.push(sentences[at]!);
      words += counts[at]!;
    }
    return parts.join(' ');
  };
  return { passage, queries: set.queries.map(({ text }) => text) };
}
