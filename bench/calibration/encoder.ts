import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Encoder } from '../../src/engine/encode/encoder.ts';
import { openEncoder, openPreviousEncoder } from '../../src/engine/encode/open-encoder.ts';

/** How a fit opens the encoder of the tree's models. */
export const ENCODER = {
  modelsFolder: join(import.meta.dirname, '../../models'),
  cacheFolder: resolve(process.env.CACHE_DIR || join(tmpdir(), 'farthing-calibration')),
  queryWorkers: 1,
  ingestWorkers: 1,
  queryQueueMax: 64,
  ingestQueueMax: 64,
  log: () => {},
};

/** The encoder of the models in use, or with OTHER_LANGUAGES=1 that of the text model for other languages, as the product asks it. */
export async function openChosenEncoder(): Promise<{ encoder: Encoder; close(): Promise<unknown> }> {
  const inUse = await openEncoder(ENCODER);
  const { otherLanguages, vocabulary } = inUse;
  const other =
    process.env.OTHER_LANGUAGES && otherLanguages
      ? await openPreviousEncoder(ENCODER, otherLanguages)
      : undefined;
  if (!other) return { encoder: inUse, close: () => inUse.close() };
  const close = () => Promise.all([inUse.close(), other.close()]);
  return { encoder: Object.assign(other, { vocabulary }), close };
}
