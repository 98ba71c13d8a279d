import { join } from 'node:path';
import type { EncoderOptions } from '../../../../src/engine/encode/encoder.ts';
import { openEncoder } from '../../../../src/engine/encode/open-encoder.ts';
import { openListening } from '../../../../src/engine/encode/speech/listening.ts';
import { type Teardown, temporaryFolder } from '../../../rig/temporary-folder.ts';

/** The models of the tree, and a cache that all tests of one machine share: labels are embedded once. */
export const MODELS = join(import.meta.dirname, '../../../../models');
export const CACHE = join(import.meta.dirname, '../../../../node_modules/.cache/farthing-test');
export const SHARED = join(import.meta.dirname, '../../../../../shared');

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

/** The embedded models of speech; closed when the test ends. */
export async function openEmbeddedListening(t: Teardown) {
  const options = { modelsFolder: MODELS, cacheFolder: temporaryFolder(t), log: () => {} };
  const listening = await openListening(options);
  if (!listening) throw new Error('the embedded model is not there');
  t.teardown(() => listening.close());
  return listening;
}

export function cosine(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, index) => sum + value * b[index]!, 0);
}
