import { openEncoder } from '../../src/encode/encoder.ts';

const WORDS =
  'the a tide engine river cell protein bond lamp city keeper gull dawn storm wheel carbon valley court'.split(
    ' ',
  );

/** Different texts of so many words, the same in each run. */
export function sentences(count: number, words: number): string[] {
  return Array.from({ length: count }, (_, text) =>
    Array.from(
      { length: words },
      (_, word) => WORDS[(text * 7 + word * (text + 3) + (word >> 2)) % WORDS.length],
    ).join(' '),
  );
}

/** Of two vectors of unit length. */
export function cosine(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, index) => sum + value * b[index]!, 0);
}

/** A device cannot be pulled out here: with all of them hidden from a new start, the next provider must serve. */
export async function lostDevice(modelsFolder: string, cacheFolder: string) {
  const visible = process.env.CUDA_VISIBLE_DEVICES;
  process.env.CUDA_VISIBLE_DEVICES = '-1';
  try {
    const encoder = await openEncoder({
      modelsFolder,
      cacheFolder,
      queryQueueMax: 64,
      ingestQueueMax: 64,
      log: () => {},
    });
    const { text_semantic: vector } = await encoder.encodeQuery('does it still answer', {
      tenant: 'gpu-check',
    });
    const families = encoder.families.map(({ family, provider }) => ({ family, provider }));
    await encoder.close();
    return { answered: vector !== undefined, families };
  } finally {
    if (visible === undefined) delete process.env.CUDA_VISIBLE_DEVICES;
    else process.env.CUDA_VISIBLE_DEVICES = visible;
  }
}
