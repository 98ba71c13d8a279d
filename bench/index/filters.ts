import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Shard } from '../../src/engine/shard/shard.ts';
import { openTenants } from '../../src/engine/shard/tenants.ts';
import { native } from '../../src/native/index.ts';
import { readFilter } from '../../src/protocol/labels/filter.ts';
import type { Item } from '../../src/protocol/schema/items.ts';
import { Random } from '../../test/rig/random.ts';
import { quantile } from '../rig/agent.ts';
import { benchItem } from './engines.ts';
import { recombined } from './sentences.ts';

/**
 * Searches of an index that a filter leaves a share of, by meaning, by words and by both: k 30, one client. Each passage is an item of
 * its own, the worst case for a filter. Vectors are perturbed copies of random directions; texts are recombined sentences of the set.
 */
const { ROWS = '100000', SHARES = '1,0.1,0.01,0.0001', QUERIES = '100' } = process.env;
const DIMENSIONS = 384;
const DIRECTIONS = 2_000;
const K = 30;
const DEPTH = 100;
const ROUNDS = 3;
const SPACE = 'text_semantic';
const WRITES = 256;

const VECTORS = {
  name: 'text_semantic',
  family: 'text_semantic',
  kind: 'passages',
  scans: 'vectors',
  weight: 0.2,
  scale: { mean: 0.05, deviation: 0.1 },
};
const WORDS = { name: 'raw_words', family: 'raw', kind: 'passages', scans: 'words', weight: 1 };
const PLANS = { meaning: [VECTORS], words: [WORDS], both: [VECTORS, WORDS] };

const random = new Random(11);
const directions = Array.from({ length: DIRECTIONS }, () => unit(() => random.next() - 0.5));

function unit(at: (index: number) => number): Float32Array {
  const row = Float32Array.from({ length: DIMENSIONS }, (_, index) => at(index));
  const length = Math.hypot(...row);
  return row.map((value) => value / length);
}

function near(direction: Float32Array): Float32Array {
  return unit((index) => direction[index]! + 0.08 * (random.next() - 0.5));
}

async function fill(shard: Shard, count: number, text: () => string): Promise<void> {
  // The number that filters ask for is spread over the index.
  const numbers = Array.from({ length: count }, (_, at) => at);
  for (let at = count - 1; at > 0; at -= 1) {
    const other = random.below(at + 1);
    [numbers[at], numbers[other]] = [numbers[other]!, numbers[at]!];
  }
  for (let from = 0; from < count; from += WRITES)
    await Promise.all(
      Array.from({ length: Math.min(WRITES, count - from) }, (_, at) => {
        const id = `i${from + at}`;
        const item: Item = { ...benchItem(id, 1), metadata: { number: numbers[from + at]! } };
        const words = text();
        const vectors = { [SPACE]: near(directions[random.below(DIRECTIONS)]!) };
        return shard.append(item, [
          { record: { item: id, locator: {}, place: 0, text: words }, words, vectors },
        ]);
      }),
    );
  await shard.whenIdle();
}

async function measure(shard: Shard, count: number, queries: readonly string[]): Promise<object[]> {
  const filters = [
    { share: 'unfiltered', filter: undefined },
    ...SHARES.split(',').map((share) => ({
      share: `${Number(share) * 100} %`,
      filter: readFilter({ metadata: { number: { lt: Math.round(count * Number(share)) } } }),
    })),
  ];
  const asked = queries.map((words, at) => ({ words, vector: near(directions[at % DIRECTIONS]!) }));
  const figures: object[] = [];
  for (const [name, lists] of Object.entries(PLANS)) {
    const plan = new native.SearchPlan(JSON.stringify({ lists, unknown_language_share: 0.2 }));
    for (const { share, filter } of filters) {
      const [all, scans]: [number[], number[]] = [[], []];
      let [hits, proved] = [0, 0];
      for (let round = 0; round <= ROUNDS; round += 1)
        for (const { words, vector } of asked) {
          const search = new native.NativeSearch(plan, K, DEPTH, false, 0, false, null, filter);
          search.askWords(words, null, false);
          const vectors = lists.flatMap((list, at) =>
            list === VECTORS ? [{ list: at, space: SPACE, vector }] : [],
          );
          const snapshot = shard.snapshot();
          const before = performance.now();
          const found = await snapshot.search(search, vectors, {
            signal: new AbortController().signal,
            mayBlock: false,
          });
          if (round > 0) {
            all.push(performance.now() - before);
            scans.push(found.scanMs);
            hits += found.hits.length;
            proved += Number(found.lists.every(({ exact }) => exact));
          }
          snapshot.close();
        }
      const p50 = quantile(all, 0.5);
      const scan = quantile(scans, 0.5);
      console.log(
        `${name.padEnd(8)} ${share.padEnd(10)} p50 ${p50.toFixed(3)} ms, scan ${scan.toFixed(3)} ms`,
      );
      figures.push({
        name: `${name}, ${share}`,
        p50_ms: p50,
        p99_ms: quantile(all, 0.99),
        scan_p50_ms: scan,
        hits: hits / all.length,
        proved: proved / all.length,
      });
    }
  }
  return figures;
}

const filters: object[] = [];
for (const rows of ROWS.split(',').map(Number)) {
  const folder = mkdtempSync(join(tmpdir(), 'farthing-bench-'));
  const spaces = [{ name: SPACE, dimensions: DIMENSIONS, modelSha256: 'ab'.repeat(32) }];
  const tenants = openTenants({ folder, spaces, openShardsMax: 1 });
  try {
    const { passage, queries } = await recombined(5);
    await tenants.use('ws_filters', { create: true }, async (shard) => {
      await fill(shard, rows, passage);
      // The first filtered search makes the table of the items.
      const snapshot = shard.snapshot();
      const plan = new native.SearchPlan(JSON.stringify({ lists: [WORDS], unknown_language_share: 0.2 }));
      const filter = readFilter({ metadata: { number: 1 } });
      const search = new native.NativeSearch(plan, 1, 1, false, 0, false, null, filter);
      search.askWords('x', null, false);
      const before = performance.now();
      await snapshot.search(search, [], { signal: new AbortController().signal, mayBlock: false });
      const first_ms = performance.now() - before;
      snapshot.close();
      console.log(`${rows} items of one passage; the first filter took ${first_ms.toFixed(0)} ms`);
      const searches = await measure(shard, rows, queries.slice(0, Number(QUERIES)));
      filters.push({ rows, first_ms, searches });
    });
  } finally {
    await tenants.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
export const facts = { filters };
