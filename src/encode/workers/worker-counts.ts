import { availableParallelism } from 'node:os';
import { onProcessor, type Towers } from '../models/tower.ts';

export interface WorkerCounts {
  readonly query: number;
  readonly ingest: number;
}

/** More workers cost memory (a session each, about 60 MB with MiniLM) and gain little over batches. */
const WORKERS_MAX = 8;

/**
 * How many workers are started unless the operator says. Queries get half of the processors, because the event loop needs
 * one, too; an ingest may use all of them, at its low priority. A GPU gets one worker of each role: more would queue for it.
 */
export function workerCounts(
  configured: { readonly query: number | undefined; readonly ingest: number | undefined },
  towers: Towers,
  processors = availableParallelism(),
): WorkerCounts {
  const chosen = towers.map(({ candidates }) => candidates[0]);
  const onGpu = chosen.length > 0 && chosen.every((candidate) => !candidate || !onProcessor(candidate));
  const bounded = (count: number) => (onGpu ? 1 : Math.max(1, Math.min(WORKERS_MAX, Math.floor(count))));
  return {
    query: configured.query ?? bounded(processors / 2),
    ingest: configured.ingest ?? bounded(processors),
  };
}
