import { availableParallelism } from 'node:os';
import type { Towers } from '../models/tower.ts';

export interface WorkerCounts {
  readonly query: number;
  readonly ingest: number;
}

/** More workers than this cost memory (a session each, about 60 MB with MiniLM) and bring little that batches don't. */
const WORKERS_MAX = 8;

/**
 * How many workers are started where the operator doesn't say. On processors half of them are the queries' (the event loop
 * needs its own too), and an ingest may use all of them, at its low priority. A GPU is fed by one worker of each role: more
 * would only queue for it.
 */
export function workerCounts(
  asked: { readonly query: number | undefined; readonly ingest: number | undefined },
  { texts, picture }: Towers,
  processors = availableParallelism(),
): WorkerCounts {
  const providers = [...texts, ...(picture ? [picture] : [])].map(
    ({ candidates }) => candidates[0]?.provider,
  );
  const onGpu = providers.length > 0 && providers.every((provider) => provider !== 'cpu');
  const bounded = (count: number) => (onGpu ? 1 : Math.max(1, Math.min(WORKERS_MAX, Math.floor(count))));
  return { query: asked.query ?? bounded(processors / 2), ingest: asked.ingest ?? bounded(processors) };
}
