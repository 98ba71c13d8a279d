import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Timing } from '../../src/api/search.ts';
import type { ItemId } from '../../src/domain/id.ts';
import type { SearchInput } from '../../src/domain/search.ts';
import type { Encoder } from '../../src/encode/encoder.ts';
import { openEncoder } from '../../src/encode/open-encoder.ts';
import { Search } from '../../src/search/search.ts';
import { openTenants } from '../../src/shard/tenants.ts';
import { quantile } from '../rig/agent.ts';
import { encodePassages, readSciFact, type SciFact } from '../sets/scifact.ts';

/**
 * What a search costs beside the model: scan and fusion over SciFact's passages in this process, without HTTP.
 *
 *   make bench NAME=search ABSTRACTS=1500     (1,500 abstracts are about 2,900 passages)
 *
 * The first run encodes all abstracts, which takes minutes; the vectors are kept in the cache folder.
 */
const { ABSTRACTS: abstractsMax = '1500', CACHE_DIR: cache = join(tmpdir(), 'farthing-calibration') } =
  process.env;
const ROOT = resolve(import.meta.dirname, '../..');
const REPEATS = 5;
const TENANT = 'ws_bench';

const encoder = await openEncoder({
  modelsFolder: join(ROOT, 'models'),
  cacheFolder: cache,
  queryWorkers: 1,
  ingestWorkers: 1,
  queryQueueMax: 512,
  ingestQueueMax: 64,
  log: () => {},
});
const folder = mkdtempSync(join(tmpdir(), 'farthing-bench-'));
const tenants = openTenants({ folder, spaces: encoder.spaces, openShardsMax: 4 });
try {
  const sciFact = await readSciFact(join(ROOT, '../shared/data/text/scifact'));
  const passages = await fill(sciFact, Number(abstractsMax));
  const known = await withKnownQueries(sciFact);
  const encoders = { current: known, searching: () => Promise.resolve(known) };
  const search = new Search({ tenants, encoders, extractor: noPictures() });
  const inputs = sciFact.claims.map(({ text }): SearchInput => ({ query: text, k: 30 }));
  for (const input of inputs) await search.run(TENANT, input, new AbortController().signal);
  const figures: Record<string, number[]> = { scan_ms: [], fuse_ms: [], both_ms: [], latency_ms: [] };
  for (let repeat = 0; repeat < REPEATS; repeat += 1) {
    for (const input of inputs) {
      const { timing, latency_ms } = await search.run(TENANT, input, new AbortController().signal);
      keep(figures, timing, latency_ms);
    }
  }
  console.log(
    `${cpus()[0]!.model}, Node ${process.version}, load ${loadavg()[0]!.toFixed(1)}, ${passages} passages, k 30`,
  );
  for (const [name, values] of Object.entries(figures)) {
    const [p10, p50, p99] = [0.1, 0.5, 0.99].map((share) => quantile(values, share).toFixed(3));
    console.log(`${name.padEnd(12)} p10 ${p10}   p50 ${p50}   p99 ${p99}   (${values.length} searches)`);
  }
} finally {
  await tenants.close();
  await encoder.close();
  rmSync(folder, { recursive: true, force: true });
}

function keep(
  figures: Record<string, number[]>,
  { scan_ms = 0, fuse_ms = 0 }: Timing,
  latency: number,
): void {
  figures.scan_ms!.push(scan_ms);
  figures.fuse_ms!.push(fuse_ms);
  figures.both_ms!.push(scan_ms + fuse_ms);
  figures.latency_ms!.push(latency);
}

/** One Item for each abstract, as an ingest would append it. */
async function fill(sciFact: SciFact, count: number): Promise<number> {
  const { owners, dimensions, vectors } = await encodePassages(encoder, sciFact, cache);
  let row = 0;
  for (const [index, { id, title, text }] of sciFact.abstracts.slice(0, count).entries()) {
    const item = `item_${id}`;
    const cut = await encoder.cutPassages({ title, blocks: [{ text }] });
    const segments = cut.map(({ text, locator, place, words }) => {
      const vector = vectors.subarray(row * dimensions, (row + 1) * dimensions);
      if (owners[row] !== index) throw new Error(`the vectors in ${cache} are of other passages`);
      row += 1;
      return { record: { item, locator, place, text }, words, vectors: { text_semantic: vector } };
    });
    const record = {
      id: item as ItemId,
      name: `${id}.md`,
      media_type: 'text/markdown',
      bytes: text.length,
      sha256: index.toString(16).padStart(64, '0'),
      state: 'searchable' as const,
      families: ['text_semantic', 'raw'] as const,
      segments: segments.length,
      created_at: '2026-11-21T00:00:00.000Z',
      expires_at: null,
    };
    await tenants.use(TENANT, { create: true }, (shard) => shard.append(record, segments));
  }
  return row;
}

/** The real encoder, but that each query's vectors are made beforehand. */
async function withKnownQueries({ claims }: SciFact): Promise<Encoder> {
  const known = new Map<string, Record<string, Float32Array>>();
  for (const { text } of claims) known.set(text, await encoder.encodeQuery('text', text, { tenant: TENANT }));
  return Object.create(encoder, {
    spaces: { value: encoder.spaces },
    admitQuery: { value: () => {} },
    encodeQuery: { value: async (_: string, text: string) => known.get(text) ?? {} },
  }) as Encoder;
}

function noPictures(): ConstructorParameters<typeof Search>[0]['extractor'] {
  const refuse = (): never => {
    throw new Error('this bench has no pictures');
  };
  return { decodePicture: refuse } as unknown as ConstructorParameters<typeof Search>[0]['extractor'];
}
