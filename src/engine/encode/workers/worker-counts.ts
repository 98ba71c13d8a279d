import { availableParallelism } from 'node:os';
import { onProcessor, type Towers } from '../models/tower.ts';

export interface WorkerCounts {
  readonly query: number;
  readonly ingest: number;
}

/** More workers cost memory (a session each, about 60 MB with MiniLM) and gain little over batches. */
const WORKERS_MAX = 8;

/**
 * Workers that feed a GPU. Cutting 64 passages of 190 words into tokens takes a processor three times as long as the GPU takes
 * to encode them: with one worker it waits for most of the time.
 */
const GPU_WORKERS_MAX = { query: 2, ingest: 4 } as const;

/**
 * How many workers are started unless the operator says. Queries get half of the processors, because the event loop needs
 * one, too; an ingest may use all of them, at its low priority. A GPU needs fewer.
 */
export function workerCounts(
  configured: { readonly query: number | undefined; readonly ingest: number | undefined },
  towers: Towers,
  processors = availableParallelism(),
): WorkerCounts {
  const chosen = towers.map(({ candidates }) => candidates[0]);
  const onGpu = chosen.length > 0 && chosen.every((candidate) => !candidate || !onProcessor(candidate));
  const most = onGpu ? GPU_WORKERS_MAX : { query: WORKERS_MAX, ingest: WORKERS_MAX };
  const bounded = (count: number, max: number) => Math.max(1, Math.min(max, Math.floor(count)));
  return {
    query: configured.query ?? bounded(processors / 2, most.query),
    ingest: configured.ingest ?? bounded(processors, most.ingest),
  };
}
