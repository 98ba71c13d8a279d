import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { machine, writeRecord } from '../rig/record.ts';
import { ingestAgainstBare } from './ingest.ts';
import { overload } from './overload.ts';
import { queriesAgainstBare } from './queries.ts';

/**
 * What stands around the model's forward pass: `make bench NAME=encode`, or `make bench NAME=encode SECONDS=2 DOCUMENTS=40` for a
 * short look. Judges its own claims; ends with 1 when one does not hold.
 */

const FOLDER = resolve(import.meta.dirname, '../../../shared/data/text/scifact');
const [seconds, documents] = [Number(process.env.SECONDS || 10), Number(process.env.DOCUMENTS || 400)];
if (!existsSync(FOLDER)) {
  console.error(`SciFact is not at ${FOLDER}: nothing to measure.`);
  process.exit(3);
}

const of = machine();
const queries = await queriesAgainstBare(FOLDER, seconds, Math.min(200, documents));
const ingest = await ingestAgainstBare(FOLDER, documents);
const refusals = await overload();

const claims: readonly [claim: string, figure: number, holds: boolean][] = [
  ['16 clients: share of bare ONNX Runtime, ≥ .90', queries.share_of_bare, queries.share_of_bare >= 0.9],
  [
    '1 client: p50 against forward pass + HTTP + scan, ≤ 1.25',
    queries.round_trip_ratio,
    queries.round_trip_ratio <= 1.25,
  ],
  ['event loop p99 under 16 clients, ms, ≤ 2', queries.loop_delay_p99_ms, queries.loop_delay_p99_ms <= 2],
  ['event loop p99 under ingest, ms, ≤ 2', ingest.loop_delay_p99_ms, ingest.loop_delay_p99_ms <= 2],
  ['ingest: share of the bare encoder, ≥ .90', ingest.share_of_bare, ingest.share_of_bare >= 0.9],
  ['query p99 during ingest against idle, ≤ 2', ingest.searches.p99_ratio, ingest.searches.p99_ratio <= 2],
  [
    '1,000 searches at once, all answered once with 200 or 503: others',
    refusals.other,
    refusals.other === 0 && refusals.answered >= refusals.queue,
  ],
];
for (const [claim, figure, holds] of claims)
  console.log(`${holds ? 'holds ' : 'FAILS '}  ${claim.padEnd(66)} ${figure.toFixed(2)}`);
console.log(`load before: ${of.load_before.join(' ')} on ${of.cores} cores`);
console.log(writeRecord('encode', { seconds, documents, queries, ingest, overload: refusals }, of));
process.exitCode = claims.every(([, , holds]) => holds) ? 0 : 1;
