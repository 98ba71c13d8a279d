import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { SegmentInput } from '../../src/shard/shard.ts';
import { openTenants } from '../../src/shard/tenants.ts';
import { quantile } from '../agent.ts';
import { readSciFact } from '../calibration/scifact.ts';
import { benchItem } from './engines.ts';

const SCIFACT = resolve(import.meta.dirname, '../../../shared/data/text/scifact');
const BATCH = 4096;
/** Words of a passage: what a model with 256 tokens takes. */
const PASSAGE_WORDS = 150;

/** BM25 over so many passages (pieces of SciFact's abstracts, again and again from other words on), asked with its claims. */
export async function wordFigures(count: number) {
  const folder = mkdtempSync(join(tmpdir(), 'farthing-bench-'));
  const tenants = openTenants({ folder, spaces: [], openShardsMax: 1 });
  try {
    const { abstracts, claims } = await readSciFact(SCIFACT);
    const words = abstracts.flatMap(({ text }) => text.split(/\s+/));
    const started = performance.now();
    for (let from = 0; from < count; from += BATCH) {
      const id = `i${from}`;
      const segments = Array.from({ length: Math.min(BATCH, count - from) }, (_, at): SegmentInput => {
        const first = ((from + at) * 97) % (words.length - PASSAGE_WORDS);
        return {
          record: { item: id, locator: {}, place: at },
          words: words.slice(first, first + PASSAGE_WORDS).join(' '),
          vectors: {},
        };
      });
      await tenants.use('ws_words', { create: true }, (shard) =>
        shard.append(benchItem(id, segments.length), segments),
      );
    }
    const fill_s = (performance.now() - started) / 1000;
    const milliseconds: number[] = [];
    let scanned = 0;
    await tenants.use('ws_words', {}, (shard) => {
      for (let repeat = 0; repeat < 3; repeat += 1)
        for (const { text } of claims) {
          const snapshot = shard.snapshot();
          const before = performance.now();
          scanned += snapshot.searchWords(text, 100).scanned;
          if (repeat > 0) milliseconds.push(performance.now() - before);
          snapshot.close();
        }
    });
    return {
      passages: count,
      fill_s,
      p50_ms: quantile(milliseconds, 0.5),
      p99_ms: quantile(milliseconds, 0.99),
      postings_a_query: Math.round(scanned / claims.length / 3),
    };
  } finally {
    await tenants.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
