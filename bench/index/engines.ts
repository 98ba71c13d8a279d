import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { SegmentInput } from '../../src/engine/shard/shard.ts';
import { openTenants, type SearchSizes } from '../../src/engine/shard/tenants.ts';
import type { ItemId } from '../../src/protocol/id.ts';
import { DIMENSIONS, K } from './vectors.ts';

/** One filled index. `search` gives the ids (numbers of rows) of the best K. */
export interface Filled {
  search(query: Float32Array): Promise<ArrayLike<number | bigint>> | ArrayLike<number | bigint>;
  /** Resolves when what is made in the background is there; answers are whole before, too. */
  whenIdle?(): Promise<void>;
  /** As `search`, for another number of hits. */
  best?(query: Float32Array, k: number): Promise<ArrayLike<number>>;
  close(): Promise<void> | void;
}

/** Fills an index with rows; may use the folder, which is its own. */
export type Fill = (rows: Float32Array, folder: string) => Promise<Filled>;

/** Rows of one Item, or of one batch of a peer. */
const BATCH = 4096;

const peers = createRequire(join(import.meta.dirname, '../peers/index/package.json'));
const rowOf = (rows: Float32Array, row: number) => rows.subarray(row * DIMENSIONS, (row + 1) * DIMENSIONS);

/** More rows than there will be. */
const NEVER = 2 ** 32 - 1;

/** The engines by name; `farthing` is as it is served, the others are its ways of searching, whatever the size; those with a graph take too long to build for the largest sizes. */
export const ENGINES: Readonly<Record<string, { readonly fill: Fill; readonly graph?: boolean }>> = {
  farthing: { fill: fillFarthing() },
  'farthing proved': { fill: fillFarthing({ bitsRowsMin: NEVER }) },
  'farthing bits': { fill: fillFarthing({ bitsRowsMin: 1, graphRowsMin: NEVER }) },
  'farthing graph': { fill: fillFarthing({ bitsRowsMin: 1, graphRowsMin: 1 }), graph: true },
  'usearch exact': { fill: fillUsearchExact },
  'usearch HNSW': { fill: fillUsearchGraph, graph: true },
  'sqlite-vec': { fill: fillSqliteVec },
  'LanceDB flat': { fill: fillLance },
};

function fillFarthing(sizes: SearchSizes = {}): Fill {
  return (rows, folder) => filledFarthing(rows, folder, sizes);
}

async function filledFarthing(rows: Float32Array, folder: string, sizes: SearchSizes): Promise<Filled> {
  const spaces = [{ name: 'text_semantic', dimensions: DIMENSIONS, modelSha256: 'ab'.repeat(32) }];
  const tenants = openTenants({ folder, spaces, openShardsMax: 4, sizes });
  const count = rows.length / DIMENSIONS;
  for (let from = 0; from < count; from += BATCH) {
    const id = `i${from}`;
    const segments = Array.from(
      { length: Math.min(BATCH, count - from) },
      (_, index): SegmentInput => ({
        record: { item: id, locator: {}, place: index },
        vectors: { text_semantic: rowOf(rows, from + index) },
      }),
    );
    await tenants.use('ws_bench', { create: true }, (shard) =>
      shard.append(benchItem(id, segments.length), segments),
    );
  }
  const never = new AbortController().signal;
  // As a search does it: lease, snapshot, list (from another thread where it is long).
  const best = (query: Float32Array, k: number) =>
    tenants.use('ws_bench', {}, async (shard) => {
      const snapshot = shard.snapshot();
      try {
        const ranking = await snapshot.rank({ space: 'text_semantic', vector: query }, { depth: k }, never);
        return ranking.segments.subarray(0, k);
      } finally {
        snapshot.close();
      }
    });
  return {
    search: (query) => best(query, K),
    best,
    whenIdle: () => tenants.use('ws_bench', {}, (shard) => shard.whenIdle()),
    close: () => tenants.close(),
  };
}

export function benchItem(id: string, segments: number) {
  return {
    id: id as ItemId,
    name: `${id}.txt`,
    media_type: 'text/plain',
    bytes: 1_000,
    sha256: Buffer.from(id).toString('hex').padStart(64, '0').slice(-64),
    state: 'searchable' as const,
    families: ['text_semantic'] as const,
    segments,
    created_at: '2026-11-21T00:00:00.000Z',
    expires_at: null,
  };
}

interface Usearch {
  readonly MetricKind: { readonly IP: string };
  readonly Index: new (
    options: object,
  ) => {
    add(keys: BigUint64Array, vectors: Float32Array, threads: number): void;
    search(vector: Float32Array, k: number, threads: number): { keys: BigUint64Array };
  };
  exactSearch(
    rows: Float32Array,
    query: Float32Array,
    dimensions: number,
    k: number,
    metric: string,
    threads: number,
  ): { keys: BigUint64Array };
}

async function fillUsearchExact(rows: Float32Array): Promise<Filled> {
  const { exactSearch, MetricKind } = peers('usearch') as Usearch;
  return {
    // A copy: it reads from the start of a view's buffer.
    search: (query) => exactSearch(rows, query.slice(), DIMENSIONS, K, MetricKind.IP, 1).keys,
    close: () => {},
  };
}

async function fillUsearchGraph(rows: Float32Array): Promise<Filled> {
  const { Index } = peers('usearch') as Usearch;
  const index = new Index({ metric: 'ip', dimensions: DIMENSIONS, quantization: 'f32' });
  const count = rows.length / DIMENSIONS;
  for (let from = 0; from < count; from += BATCH) {
    const batch = rows.subarray(from * DIMENSIONS, Math.min(count, from + BATCH) * DIMENSIONS);
    index.add(
      BigUint64Array.from({ length: batch.length / DIMENSIONS }, (_, at) => BigInt(from + at)),
      batch,
      0,
    );
  }
  return { search: (query) => index.search(query, K, 1).keys, close: () => {} };
}

async function fillSqliteVec(rows: Float32Array, folder: string): Promise<Filled> {
  const { DatabaseSync } = await import('node:sqlite');
  const database = new DatabaseSync(join(folder, 'vectors.db'), { allowExtension: true });
  (peers('sqlite-vec') as { load(database: object): void }).load(database);
  database.exec(`create virtual table rows using vec0(v float[${DIMENSIONS}] distance_metric=cosine)`);
  const insert = database.prepare('insert into rows(rowid, v) values (?, ?)');
  const bytes = (vector: Float32Array) => new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
  database.exec('begin');
  for (let row = 0; row < rows.length / DIMENSIONS; row += 1)
    insert.run(BigInt(row), bytes(rowOf(rows, row)));
  database.exec('commit');
  const select = database.prepare(`select rowid from rows where v match ? and k = ${K}`);
  return {
    search: (query) => select.all(bytes(query)).map((found) => found.rowid as number),
    close: () => database.close(),
  };
}

interface LanceTable {
  add(rows: object[]): Promise<unknown>;
  search(query: number[]): {
    distanceType(metric: string): {
      select(columns: string[]): { limit(k: number): { toArray(): Promise<{ id: number }[]> } };
    };
  };
}

async function fillLance(rows: Float32Array, folder: string): Promise<Filled> {
  const { connect } = peers('@lancedb/lancedb') as {
    connect(
      folder: string,
    ): Promise<{ createTable(name: string, rows: object[]): Promise<LanceTable>; close(): void }>;
  };
  mkdirSync(join(folder, 'lance'));
  const database = await connect(join(folder, 'lance'));
  const count = rows.length / DIMENSIONS;
  let table: LanceTable | undefined;
  for (let from = 0; from < count; from += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, count - from) }, (_, at) => ({
      id: from + at,
      vector: [...rowOf(rows, from + at)],
    }));
    if (table) await table.add(batch);
    else table = await database.createTable('rows', batch);
  }
  const filled = table!;
  return {
    search: async (query) => {
      const found = await filled
        .search([...query])
        .distanceType('cosine')
        .select(['id'])
        .limit(K)
        .toArray();
      return found.map(({ id }) => id);
    },
    close: () => database.close(),
  };
}
