import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { machine, writeRecord } from '../rig/record.ts';
import { appendFigures, ingestFigures, tenantFigures } from './durable.ts';
import { ENGINES } from './engines.ts';
import { hasSciFact } from './sentences.ts';
import { writeVectors } from './vectors.ts';
import { wordFigures } from './words.ts';

/**
 * The index beside other engines, in one run, on the same vectors: sentences of SciFact by the installed text model, and perturbed copies
 * of them where there are not enough. `make bench NAME=index ROWS=10000,100000 TENANTS=10000 QUERIES=100 GRAPH_ROWS_MAX=100000`.
 */
const numbers = (value: string | undefined, otherwise: string) => (value || otherwise).split(',').map(Number);
const ROWS = numbers(process.env.ROWS, '10000,100000,1000000');
const [TENANTS = 0] = numbers(process.env.TENANTS, '10000');
const [QUERIES = 0] = numbers(process.env.QUERIES, '100');
/** Above it a graph takes more than minutes to build. */
const [GRAPH_ROWS_MAX = 0] = numbers(process.env.GRAPH_ROWS_MAX, '100000');
/** Fewer are encoded sooner; the rest are perturbed copies then. */
const [SENTENCES = 0] = numbers(process.env.SENTENCES, '1000000');
/** Names of engines, separated by commas; empty: all. */
const ONLY = (process.env.ENGINES || '').split(',').filter((name) => name !== '');
const CACHE = resolve(process.env.CACHE_DIR || join(tmpdir(), 'farthing-bench-index'));
const MEASURE = join(import.meta.dirname, 'measure.ts');
const run = promisify(execFile);

if (!hasSciFact()) {
  console.error('SciFact is not there (../shared/data/text/scifact): nothing to measure.');
  process.exit(3);
}
const of = machine();
console.log(`${of.processor}, ${of.cores} cores, Node ${of.node}, load before ${of.load_before[0]}`);
const engines: object[] = [];
for (const rows of ROWS) {
  const folder = mkdtempSync(join(tmpdir(), 'farthing-bench-'));
  try {
    const files = await writeVectors(folder, CACHE, rows, {
      queriesMax: QUERIES,
      sentencesMax: SENTENCES,
    });
    console.log(
      `\n${rows} rows of 384 dimensions: ${files.real} sentences, ${rows - files.real} perturbed copies; k 30, one client`,
    );
    for (const [name, { graph }] of Object.entries(ENGINES)) {
      if (ONLY.length > 0 && !ONLY.includes(name)) continue;
      if (graph && rows > GRAPH_ROWS_MAX) {
        console.log(`${name.padEnd(15)} left out: its graph takes too long to build (GRAPH_ROWS_MAX)`);
        continue;
      }
      engines.push(await measured(name, files));
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
const durable = {
  appends: await told('appends', appendFigures()),
  ingest: await told('search while ingesting', ingestFigures()),
  tenants: await told('tenants', tenantFigures(TENANTS)),
  words: await told('words', wordFigures(Math.min(100_000, Math.max(...ROWS)))),
};
console.log(`\nrecord: ${writeRecord('index', { engines, ...durable }, of)}`);

async function measured(name: string, files: object): Promise<object> {
  try {
    const { stdout } = await run(process.execPath, [
      '--expose-gc',
      '--no-warnings',
      MEASURE,
      name,
      JSON.stringify(files),
    ]);
    const figures = JSON.parse(stdout) as Record<string, number>;
    const { p50_ms, p99_ms, recall_at_30, build_s, derived_s, resident_bytes_per_row, disk_bytes_per_row } =
      figures;
    console.log(
      `${name.padEnd(15)} p50 ${p50_ms!.toFixed(3)} ms   p99 ${p99_ms!.toFixed(3)}   recall@30 ${recall_at_30!.toFixed(4)}   ` +
        `build ${build_s!.toFixed(1)} s${derived_s! < 0.05 ? '' : ` (+ ${derived_s!.toFixed(1)} in the background)`}   memory ${resident_bytes_per_row} B a row   disk ${disk_bytes_per_row} B a row`,
    );
    const depths = [1, 10, 100, 1000].map((k) => figures[`recall_at_${k}`]);
    if (depths.every((recall) => recall !== undefined))
      console.log(
        `${''.padEnd(15)} recall@1/10/100/1000 ${depths.map((recall) => recall!.toFixed(4)).join(' ')}`,
      );
    return figures;
  } catch (error) {
    const [reason] = String((error as { stderr?: string }).stderr ?? error).match(/^.*Error.*$/m) ?? [
      'it ended',
    ];
    console.log(`${name.padEnd(15)} not measured: ${reason}`);
    return { engine: name, not_measured: reason };
  }
}

async function told<T extends object>(name: string, figures: Promise<T>): Promise<T> {
  const done = await figures;
  console.log(`\n${name}: ${JSON.stringify(done)}`);
  return done;
}
