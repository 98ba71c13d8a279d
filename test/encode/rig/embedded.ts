import { join } from 'node:path';
import type { EncoderOptions } from '../../../src/encode/encoder.ts';
import { openEncoder } from '../../../src/encode/open-encoder.ts';

/** The models of the tree, and a cache that all tests of one machine share: labels are embedded once. */
export const MODELS = join(import.meta.dirname, '../../../models');
export const CACHE = join(import.meta.dirname, '../../../node_modules/.cache/farthing-test');
export const SHARED = join(import.meta.dirname, '../../../../shared');

export function openEmbedded(options: Partial<EncoderOptions> = {}) {
  return openEncoder({
    modelsFolder: MODELS,
    cacheFolder: CACHE,
    queryWorkers: 1,
    ingestWorkers: 1,
    queryQueueMax: 64,
    ingestQueueMax: 16,
    log: () => {},
    ...options,
  });
}

export function cosine(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, index) => sum + value * b[index]!, 0);
}
