import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { BenchWorkspace, inParallel, quantile, startServer } from '../rig/agent.ts';
import { machine, writeRecord } from '../rig/record.ts';

/** Latency of a workspace search over HTTP with SciFact inside, one client: `make bench NAME=http`, or
 * `make bench NAME=http DOCUMENTS=1000` for the first so many abstracts. */

const FOLDER = resolve(import.meta.dirname, '../../../shared/data/text/scifact');
const WARM_UP = 50;
const REPEATS = 3;

if (!existsSync(FOLDER)) {
  console.error(`SciFact is not at ${FOLDER}: nothing to measure.`);
  process.exit(3);
}
const read = <T>(name: string) =>
  readFileSync(join(FOLDER, name), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);
const documents = Number(process.env.DOCUMENTS || Number.POSITIVE_INFINITY);
const corpus = read<{ _id: string; title: string; text: string }>('corpus.jsonl').slice(0, documents);
const queries = read<{ text: string }>('queries.jsonl');
const of = machine();
const server = await startServer();
try {
  const workspace = await BenchWorkspace.rent(server.url, 240);
  const started = performance.now();
  await inParallel('ingest', corpus, 8, ({ _id, title, text }) =>
    workspace.ingest(`${_id}.md`, new TextEncoder().encode(`# ${title}\n\n${text}\n`)),
  );
  const seconds = (performance.now() - started) / 1000;
  console.log(`${of.processor}, ${of.cores} cores, Node ${of.node}, load before ${of.load_before.join(' ')}`);
  console.log(
    `ingest: ${corpus.length} documents in ${seconds.toFixed(0)} s, ${(corpus.length / seconds).toFixed(0)} a second`,
  );
  for (const { text } of queries.slice(0, WARM_UP)) await workspace.search({ query: text });
  const figures: Record<string, number[]> = {
    round_trip_ms: [],
    latency_ms: [],
    encode_ms: [],
    scan_ms: [],
    fuse_ms: [],
  };
  for (let repeat = 0; repeat < REPEATS; repeat += 1) {
    for (const { text } of queries) {
      const before = performance.now();
      const { latency_ms, timing } = await workspace.search({ query: text });
      figures.round_trip_ms!.push(performance.now() - before);
      figures.latency_ms!.push(latency_ms);
      for (const stage of ['encode_ms', 'scan_ms', 'fuse_ms']) figures[stage]!.push(timing[stage]!);
    }
  }
  const recorded: Record<string, { p50: number; p99: number }> = {};
  for (const [name, values] of Object.entries(figures)) {
    const [p50, p99] = [quantile(values, 0.5), quantile(values, 0.99)];
    recorded[name] = { p50, p99 };
    console.log(
      `${name.padEnd(14)} p50 ${p50.toFixed(2)}   p99 ${p99.toFixed(2)}   (${values.length} searches, 1 client)`,
    );
  }
  const ingest = { documents: corpus.length, per_second: corpus.length / seconds };
  console.log(`record: ${writeRecord('http', { ingest, clients: 1, searches: recorded }, of)}`);
} finally {
  await server.stop();
}
