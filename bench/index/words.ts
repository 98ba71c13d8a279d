import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Shard } from '../../src/engine/shard/shard.ts';
import { openTenants } from '../../src/engine/shard/tenants.ts';
import { quantile } from '../rig/agent.ts';
import { benchItem } from './engines.ts';
import { recombined } from './sentences.ts';

const BATCH = 4096;
const ROUNDS = 2;
/** Depths: what an agent looks at, what a fusion takes, and what a search asks so that a hundred places come of it. */
const DEPTHS = [10, 100, 200];

/** BM25 over so many passages (sentences of the set, recombined), asked with the set's queries: ROWS=100000. A million take minutes to fill. */
async function wordFigures(count: number) {
  const folder = mkdtempSync(join(tmpdir(), 'farthing-bench-'));
  const tenants = openTenants({ folder, spaces: [], openShardsMax: 1 });
  try {
    const { passage, queries } = await recombined(5);
    const started = performance.now();
    for (let from = 0; from < count; from += BATCH) {
      const id = `i${from}`;
      const segments = Array.from({ length: Math.min(BATCH, count - from) }, (_, at) => ({
        record: { item: id, locator: {}, place: at },
        words: passage(),
        vectors: {},
      }));
      await tenants.use('ws_words', { create: true }, (shard) =>
        shard.append(benchItem(id, segments.length), segments),
      );
    }
    const fill_s = (performance.now() - started) / 1000;
    const depths = await tenants.use('ws_words', {}, async (shard) => {
      await shard.whenIdle();
      const figures: object[] = [];
      for (const k of DEPTHS) figures.push(await depthFigures(shard, queries, k));
      return figures;
    });
    return { rows: count, fill_s, depths };
  } finally {
    await tenants.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function depthFigures(shard: Shard, queries: readonly string[], k: number): Promise<object> {
  const milliseconds: number[] = [];
  let scanned = 0;
  // The first round reads the pages in.
  for (let round = 0; round <= ROUNDS; round += 1)
    for (const query of queries) {
      const snapshot = shard.snapshot();
      const before = performance.now();
      const ranking = snapshot.searchWords(query, k);
      if (round > 0) {
        milliseconds.push(performance.now() - before);
        scanned += ranking.scanned;
      }
      snapshot.close();
      await new Promise(setImmediate);
    }
  return {
    k,
    p50_ms: quantile(milliseconds, 0.5),
    p90_ms: quantile(milliseconds, 0.9),
    p99_ms: quantile(milliseconds, 0.99),
    postings_scored_a_query: Math.round(scanned / milliseconds.length),
  };
}

const words: object[] = [];
for (const rows of process.env.ROWS!.split(',').map(Number)) words.push(await wordFigures(rows));
export const facts = { words };
