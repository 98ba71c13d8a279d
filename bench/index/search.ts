import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SearchInput } from '../../src/domain/search.ts';
import type { Encoder } from '../../src/encode/encoder.ts';
import { Search } from '../../src/search/search.ts';
import { openTenants } from '../../src/shard/tenants.ts';
import { type Collection, encodedCollection } from '../calibration/collection.ts';
import { quantile } from '../rig/agent.ts';
import { setFolder } from '../sets/beir.ts';
import { benchItem } from './engines.ts';
import { benchEncoder } from './sentences.ts';

/**
 * What a search costs beside the model: scan and fusion over the set's passages in this process, without HTTP. The first run encodes
 * all texts, which takes minutes; the vectors are kept in the cache folder.
 */
const DOCUMENTS = Number(process.env.DOCUMENTS);
const CACHE = process.env.CACHE_DIR || join(tmpdir(), 'farthing-calibration');
const REPEATS = 5;
const TENANT = 'ws_bench';
const STAGES = ['scan_ms', 'fuse_ms', 'both_ms', 'latency_ms'] as const;

export const facts: Record<string, object> = {};
const encoder = await benchEncoder(CACHE);
const folder = mkdtempSync(join(tmpdir(), 'farthing-bench-'));
const tenants = openTenants({ folder, spaces: encoder.spaces, openShardsMax: 4 });
try {
  const collection = await encodedCollection(encoder, setFolder(), CACHE);
  await fill(collection);
  const known = withKnownQueries(collection);
  const encoders = { current: known, searching: () => Promise.resolve(known) };
  const search = new Search({ tenants, encoders, extractor: noPictures() });
  const inputs = collection.set.queries.map(({ text }): SearchInput => ({ query: text, k: 30 }));
  const figures = new Map(STAGES.map((stage) => [stage, [] as number[]]));
  for (let repeat = 0; repeat <= REPEATS; repeat += 1)
    for (const input of inputs) {
      const { timing, latency_ms } = await search.run(TENANT, input, new AbortController().signal);
      const { scan_ms = 0, fuse_ms = 0 } = timing;
      const ms = { scan_ms, fuse_ms, both_ms: scan_ms + fuse_ms, latency_ms };
      // The first round reads the pages in.
      if (repeat > 0) for (const stage of STAGES) figures.get(stage)!.push(ms[stage]);
    }
  for (const [stage, values] of figures)
    facts[stage] = { p10: quantile(values, 0.1), p50: quantile(values, 0.5), p99: quantile(values, 0.99) };
} finally {
  await tenants.close();
  await encoder.close();
  rmSync(folder, { recursive: true, force: true });
}

/** One Item for each text, as an ingest would append it. */
async function fill({ passages, rows, dimensions }: Collection): Promise<void> {
  let row = 0;
  for (const [index, cut] of passages.slice(0, DOCUMENTS).entries()) {
    const item = `item_${index}`;
    const segments = cut.map(({ text, locator, place, words }) => {
      const vector = rows.subarray(row * dimensions, (row + 1) * dimensions);
      row += 1;
      return { record: { item, locator, place, text }, words, vectors: { text_semantic: vector } };
    });
    await tenants.use(TENANT, { create: true }, (shard) =>
      shard.append(benchItem(item, segments.length), segments),
    );
  }
}

/** The real encoder, but that each query's vectors are made beforehand. */
function withKnownQueries({ set, queryRows, dimensions }: Collection): Encoder {
  const known = new Map(
    set.queries.map(({ text }, row) => [text, queryRows.subarray(row * dimensions, (row + 1) * dimensions)]),
  );
  return Object.create(encoder, {
    spaces: { value: encoder.spaces },
    admitQuery: { value: () => {} },
    encodeQuery: { value: async (_: string, text: string) => ({ text_semantic: known.get(text)! }) },
  }) as Encoder;
}

function noPictures(): ConstructorParameters<typeof Search>[0]['extractor'] {
  const refuse = (): never => {
    throw new Error('this bench has no pictures');
  };
  return { decodePicture: refuse } as unknown as ConstructorParameters<typeof Search>[0]['extractor'];
}
