import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

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
