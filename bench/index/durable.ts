import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open as openLmdb } from 'lmdb';
import type { SegmentInput, Shard } from '../../src/engine/shard/shard.ts';
import { openTenants, type Tenants } from '../../src/engine/shard/tenants.ts';
import { Random } from '../../test/rig/random.ts';
import { quantile } from '../rig/agent.ts';
import { benchItem } from './engines.ts';
import { DIMENSIONS } from './vectors.ts';

/** What does not depend on the vectors' meaning is measured with random ones. */
const SPACES = [{ name: 'text_semantic', dimensions: DIMENSIONS, modelSha256: 'ab'.repeat(32) }];
const SMALL_ITEMS = 300;
const TOGETHER = 512;
const BULK_ROWS = 8_192;
const ROWS_IN_USE = 10_000;
const random = new Random(11);

async function withTenants<T>(
  openShardsMax: number,
  work: (tenants: Tenants, folder: string) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'farthing-bench-'));
  const tenants = openTenants({ folder, spaces: SPACES, openShardsMax });
  try {
    return await work(tenants, folder);
  } finally {
    await tenants.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function vector(): Float32Array {
  const numbers = Float32Array.from({ length: DIMENSIONS }, () => random.next() - 0.5);
  const length = Math.hypot(...numbers);
  return numbers.map((value) => value / length);
}

function segmentsOf(item: string, count: number): SegmentInput[] {
  return Array.from({ length: count }, (_, place) => ({
    record: { item, locator: {}, place, text: 'some words of a passage' },
    words: `some words of passage ${place}`,
    vectors: { text_semantic: vector() },
  }));
}

const put = (shard: Shard, id: string, count: number) =>
  shard.append(benchItem(id, count), segmentsOf(id, count));

/**
 * Durable appends beside lmdb's own commits on the same disk, in turns, so that both meet the same machine: one small Item after
 * the other, many at once, and a large one.
 */
function appendFigures() {
  return withTenants(1, (tenants, folder) =>
    tenants.use('ws_a', { create: true }, async (shard) => {
      const lmdb = openLmdb({ path: join(folder, 'lmdb'), overlappingSync: false });
      const small: number[] = [];
      const commits: number[] = [];
      for (let number = 0; number < SMALL_ITEMS; number += 1) {
        const segments = segmentsOf(`s${number}`, 1);
        small.push(await timed(() => shard.append(benchItem(`s${number}`, 1), segments)));
        commits.push(await timed(() => lmdb.put(`key${number}`, 'x'.repeat(200))));
      }
      const together = await timed(() =>
        Promise.all(Array.from({ length: TOGETHER }, (_, number) => put(shard, `t${number}`, 1))),
      );
      const bulk = segmentsOf('bulk', BULK_ROWS);
      const bulk_ms = await timed(() => shard.append(benchItem('bulk', BULK_ROWS), bulk));
      // What a row is at the least: the f32 vector, its codes, and a record.
      const row = Buffer.alloc(5 * DIMENSIONS + 200, 1);
      const lmdb_bulk_ms = await timed(() =>
        lmdb.transaction(() => {
          for (let number = 0; number < BULK_ROWS; number += 1) void lmdb.put(`row${number}`, row);
        }),
      );
      await lmdb.close();
      return {
        small_item_p50_ms: {
          value: quantile(small, 0.5),
          unit: 'ms',
          peer: 'lmdb',
          peer_value: quantile(commits, 0.5),
        },
        small_item_p99_ms: {
          value: quantile(small, 0.99),
          unit: 'ms',
          peer: 'lmdb',
          peer_value: quantile(commits, 0.99),
        },
        small_items_together_per_second: Math.round((TOGETHER / together) * 1000),
        bulk_rows_per_second: {
          value: (1000 * BULK_ROWS) / bulk_ms,
          unit: '/s',
          peer: 'lmdb',
          peer_value: (1000 * BULK_ROWS) / lmdb_bulk_ms,
        },
      };
    }),
  );
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const before = performance.now();
  await work();
  return performance.now() - before;
}

/** Searches of 10,000 rows, idle and while Items are appended to the same index without a pause. */
function ingestFigures() {
  return withTenants(1, (tenants) =>
    tenants.use('ws_a', { create: true }, async (shard) => {
      await put(shard, 'base', ROWS_IN_USE);
      const idle = await searches(shard, 1_000);
      const prepared = Array.from({ length: 50 }, (_, number) => segmentsOf(`n${number}`, 20));
      let stop = false;
      const writer = async (name: string) => {
        for (let number = 0; !stop; number += 1) {
          const id = `${name}${number}`;
          await shard.append(benchItem(id, 20), prepared[number % prepared.length]!);
        }
      };
      const writers = ['x', 'y'].map(writer);
      const busy = await searches(shard, 1_000);
      stop = true;
      await Promise.all(writers);
      return {
        idle_p50_ms: quantile(idle, 0.5),
        idle_p99_ms: quantile(idle, 0.99),
        ingesting_p50_ms: quantile(busy, 0.5),
        ingesting_p99_ms: quantile(busy, 0.99),
      };
    }),
  );
}

async function searches(shard: Shard, count: number): Promise<number[]> {
  const milliseconds: number[] = [];
  const query = vector();
  for (let number = 0; number < count; number += 1) {
    const before = performance.now();
    const snapshot = shard.snapshot();
    snapshot.searchVector('text_semantic', query, 30);
    snapshot.close();
    milliseconds.push(performance.now() - before);
    await new Promise(setImmediate);
  }
  return milliseconds;
}

/** Many Tenants with one Item each: memory, open files, and the first search of one with 10,000 rows that was closed. */
function tenantFigures(count: number) {
  // Fewer than there are, so that the large one is closed between its searches.
  const openShardsMax = Math.max(1, Math.min(256, count - 1));
  return withTenants(openShardsMax, async (tenants) => {
    const before = memoryMiB();
    await tenants.use('ws_large', { create: true }, (shard) => put(shard, 'base', ROWS_IN_USE));
    for (let number = 0; number < count; number += 1)
      await tenants.use(`ws_${number}`, { create: true }, (shard) => put(shard, 'only', 1));
    const cold: number[] = [];
    const query = vector();
    for (let round = 0; round < 5; round += 1) {
      // As many others as may be open: the large one is closed by then.
      for (let number = 0; number < Math.min(count, openShardsMax); number += 1)
        await tenants.use(`ws_${number}`, {}, () => undefined);
      const started = performance.now();
      await tenants.use('ws_large', {}, (shard) => {
        const snapshot = shard.snapshot();
        snapshot.searchVector('text_semantic', query, 30);
        snapshot.close();
      });
      cold.push(performance.now() - started);
    }
    const open = { indexes: tenants.openCount, files: readdirSync('/proc/self/fd').length };
    const withOpen = memoryMiB();
    await tenants.closeIdle(0);
    const idle = memoryMiB();
    return {
      tenants: count,
      open_indexes: open.indexes,
      open_files: open.files,
      // What is mapped of open files can be dropped by the kernel at any time; the rest cannot.
      own_mib_above_empty: Math.round(withOpen.own - before.own),
      mapped_mib_above_empty: Math.round(withOpen.mapped - before.mapped),
      all_idle_own_mib_above_empty: Math.round(idle.own - before.own),
      all_idle_mapped_mib_above_empty: Math.round(idle.mapped - before.mapped),
      cold_first_search_p50_ms: quantile(cold, 0.5),
      cold_first_search_worst_ms: Math.max(...cold),
    };
  });
}

/** Resident memory: what is this process's own, and pages of files. */
function memoryMiB(): { own: number; mapped: number } {
  const status = readFileSync('/proc/self/status', 'utf8');
  const mib = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0) / 1024;
  return { own: mib('RssAnon'), mapped: mib('RssFile') };
}

const TENANTS = Number(process.env.TENANTS);
export const facts = {
  appends: await appendFigures(),
  ingest: await ingestFigures(),
  ...(TENANTS > 0 && { tenants: await tenantFigures(TENANTS) }),
};
