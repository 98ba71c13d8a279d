import t from 'tap';
import type { Provider } from '../../../../src/engine/encode/models/manifest.ts';
import type { Towers } from '../../../../src/engine/encode/models/tower.ts';
import { workerCounts } from '../../../../src/engine/encode/workers/worker-counts.ts';

/** Towers with nothing but providers, which the counts depend on. */
function towers(...providers: Provider[]): Towers {
  return providers.map((provider) => ({ candidates: [{ provider }] })) as unknown as Towers;
}

const automatic = { query: undefined, ingest: undefined };

t.test('half of the processors are for queries, all of them for an ingest, within bounds', async (t) => {
  t.strictSame(workerCounts(automatic, towers('cpu'), 1), { query: 1, ingest: 1 });
  t.strictSame(workerCounts(automatic, towers('cpu'), 2), { query: 1, ingest: 2 });
  t.strictSame(workerCounts(automatic, towers('cpu', 'cuda'), 8), { query: 4, ingest: 8 });
  t.strictSame(workerCounts(automatic, towers('cpu'), 128), { query: 8, ingest: 8 });
});

t.test('a GPU is fed by a few workers, and by no more than there are processors', async (t) => {
  t.strictSame(workerCounts(automatic, towers('cuda', 'cuda'), 64), { query: 2, ingest: 4 });
  t.strictSame(workerCounts(automatic, towers('cuda', 'cuda'), 2), { query: 1, ingest: 2 });
});

t.test('what the operator configures counts, zero included', async (t) => {
  t.strictSame(workerCounts({ query: 3, ingest: 0 }, towers('cpu'), 64), { query: 3, ingest: 0 });
});
