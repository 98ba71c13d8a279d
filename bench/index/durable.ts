import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open as openLmdb } from 'lmdb';
import type { SegmentInput, Shard } from '../../src/engine/shard/shard.ts';
import { openTenants, type Tenants } from '../../src/engine/shard/tenants.ts';
import { Random } from '../../test/rig/random.ts';
import { quantile } from '../rig/agent.ts';
import { benchItem } from './engines.ts';
import { DIMENSIONS } from './vectors.ts';

/** Vectors are random: durable writes do not depend on their meaning. */
const SPACES = [{ name: 'text_semantic', dimensions: DIMENSIONS, modelSha256: 'ab'.repeat(32) }];
const SMALL_ITEMS = 300;
const TOGETHER = 512;
const BULK_ROWS = 8_192;
const random = new Random(11);

async function withTenants<T>(work: (tenants: Tenants, folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'farthing-bench-'));
  const tenants = openTenants({ folder, spaces: SPACES, openShardsMax: 1 });
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
  return withTenants((tenants, folder) =>
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
      // Least content of a row: the f32 vector, its codes, and a record.
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

export const facts = { appends: await appendFigures() };
