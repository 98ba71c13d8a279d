import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { quantile } from '../rig/agent.ts';
import { ENGINES, type Filled } from './engines.ts';
import { DIMENSIONS, dot, K, readF32, readF64, TRUTH, type VectorFiles } from './vectors.ts';

/** One engine in a process of its own: node measure.ts ENGINE FILES(JSON); prints one line of JSON. */
const [engine = '', files = '{}'] = process.argv.slice(2);
const { rows: rowsFile, queries: queriesFile, truth: truthFile } = JSON.parse(files) as VectorFiles;
/** Each query is asked again until there are so many searches, or the time is over. */
const SEARCHES_MIN = 300;
const SEARCHING_MS_MAX = 30_000;
/** Scores of two engines differ in their last bits. */
const TOLERANCE = 1e-5;

const rows = readF32(rowsFile);
const queries = readF32(queriesFile);
const truth = readF64(truthFile);
const folder = mkdtempSync(join(tmpdir(), 'farthing-bench-'));
try {
  const count = rows.length / DIMENSIONS;
  const before = residentBytes();
  const started = performance.now();
  const filled = await ENGINES[engine]!.fill(rows, folder);
  const build_s = (performance.now() - started) / 1000;
  await filled.whenIdle?.();
  const derived_s = (performance.now() - started) / 1000 - build_s;
  const { milliseconds, recall } = await searchAll(filled);
  const depths = await recallAtDepths(filled);
  const resident = residentBytes() - before;
  const disk = bytesUnder(folder);
  await filled.close();
  const figures = {
    engine,
    rows: count,
    p50_ms: quantile(milliseconds, 0.5),
    p99_ms: quantile(milliseconds, 0.99),
    [`recall_at_${K}`]: recall,
    ...depths,
    build_s,
    derived_s,
    resident_bytes_per_row: Math.round(resident / count),
    disk_bytes_per_row: Math.round(disk / count),
  };
  console.log(JSON.stringify(figures));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function searchAll(filled: Filled): Promise<{ milliseconds: number[]; recall: number }> {
  const asked = queries.length / DIMENSIONS;
  const milliseconds: number[] = [];
  let good = 0;
  for (let at = 0; at < asked; at += 1) {
    const found = await filled.search(queries.subarray(at * DIMENSIONS, (at + 1) * DIMENSIONS));
    good += goodHits(found, at, K);
  }
  const ending = performance.now() + SEARCHING_MS_MAX;
  for (let search = 0; search < Math.max(asked, SEARCHES_MIN); search += 1) {
    if (search >= asked && performance.now() > ending) break;
    const from = (search % asked) * DIMENSIONS;
    const query = queries.subarray(from, from + DIMENSIONS);
    const before = performance.now();
    await filled.search(query);
    milliseconds.push(performance.now() - before);
  }
  return { milliseconds, recall: good / (asked * K) };
}

/** How many of the first k belong to the true best k of a query. */
function goodHits(found: ArrayLike<number | bigint>, query: number, k: number): number {
  const least = truth[query * TRUTH + k - 1]! - TOLERANCE;
  let good = 0;
  for (let hit = 0; hit < Math.min(k, found.length); hit += 1)
    if (dot(rows, Number(found[hit]) * DIMENSIONS, queries, query * DIMENSIONS) >= least) good += 1;
  return good;
}

/** Recall at other depths than K, where an engine tells. */
async function recallAtDepths(filled: Filled): Promise<Record<string, number>> {
  const asked = queries.length / DIMENSIONS;
  const recalls: Record<string, number> = {};
  if (!filled.best) return recalls;
  for (const k of [1, 10, 100, 1000]) {
    let good = 0;
    for (let at = 0; at < asked; at += 1)
      good += goodHits(await filled.best(queries.subarray(at * DIMENSIONS, (at + 1) * DIMENSIONS), k), at, k);
    recalls[`recall_at_${k}`] = good / (asked * k);
  }
  return recalls;
}

/** Memory that is this process's own: pages of a mapped file belong to the page cache. */
function residentBytes(): number {
  globalThis.gc?.();
  const status = readFileSync('/proc/self/status', 'utf8');
  return 1024 * Number(/^RssAnon:\s+(\d+)/m.exec(status)?.[1] ?? 0);
}

function bytesUnder(path: string): number {
  let bytes = 0;
  for (const entry of readdirSync(path, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) bytes += statSync(join(entry.parentPath, entry.name)).blocks * 512;
  return bytes;
}
