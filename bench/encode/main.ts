import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { machine, writeRecord } from '../rig/record.ts';
import { ingestAgainstBare } from './ingest.ts';
import { likeness } from './native-likeness.ts';
import { nativeAgainstRuntime } from './native-speed.ts';
import { overload } from './overload.ts';
import { queriesAgainstBare } from './queries.ts';

/**
 * The native encoder against ONNX Runtime, and what stands around the model's forward pass: `make bench NAME=encode`, or `make bench NAME=encode SECONDS=2 DOCUMENTS=40` for a
 * short look; PART=native for the encoders alone, ABSTRACTS=5183 for all of SciFact. Judges its own claims; ends with 1 when one does not hold.
 */

const FOLDER = resolve(import.meta.dirname, '../../../shared/data/text/scifact');
const [seconds, documents] = [Number(process.env.SECONDS || 10), Number(process.env.DOCUMENTS || 400)];
if (!existsSync(FOLDER)) {
  console.error(`SciFact is not at ${FOLDER}: nothing to measure.`);
  process.exit(3);
}

const of = machine();
const encoders = await nativeAgainstRuntime();
for (const { name, median, ratio, ratio_of_least } of encoders.rows)
  console.log(
    `${name.padEnd(34)} native ${median.native_ms.toFixed(2)} ms, ONNX Runtime ${median.runtime_ms.toFixed(2)} ms of processor time: ${ratio.toFixed(2)} × (of the least: ${ratio_of_least.toFixed(2)})`,
  );
const vectors = await likeness(FOLDER, Number(process.env.ABSTRACTS || 1_000));
console.log(JSON.stringify(vectors));
const served = process.env.PART === 'native' ? undefined : await aroundTheModel();

async function aroundTheModel() {
  const queries = await queriesAgainstBare(FOLDER, seconds, Math.min(200, documents));
  return { queries, ingest: await ingestAgainstBare(FOLDER, documents), refusals: await overload() };
}

type Claim = readonly [claim: string, figure: number, holds: boolean];

const encoderClaims: readonly Claim[] = [
  ...encoders.rows.map(
    ({ name, ratio, claim }): Claim => [`native, ${name}, ≥ ${claim}`, ratio, ratio >= claim],
  ),
  ...(vectors
    ? ([
        ['native: cosine to f32, ≥ .998', vectors.native.cosine_mean, vectors.native.cosine_mean >= 0.998],
        [
          'native: nDCG@10 less that of ONNX Runtime, ≥ −.005',
          vectors.native.ndcg_10 - vectors.runtime.ndcg_10,
          vectors.native.ndcg_10 - vectors.runtime.ndcg_10 >= -0.005,
        ],
      ] as const)
    : []),
];

function servedClaims({
  queries,
  ingest,
  refusals,
}: Awaited<ReturnType<typeof aroundTheModel>>): readonly Claim[] {
  return [
    ['16 clients: share of the bare model, ≥ .90', queries.share_of_bare, queries.share_of_bare >= 0.9],
    [
      '16 clients: the same beside a busy thread, ≥ .90',
      queries.share_of_bare_beside_a_busy_thread,
      queries.share_of_bare_beside_a_busy_thread >= 0.9,
    ],
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
}

const claims = [...encoderClaims, ...(served ? servedClaims(served) : [])];
for (const [claim, figure, holds] of claims)
  console.log(`${holds ? 'holds ' : 'FAILS '}  ${claim.padEnd(66)} ${figure.toFixed(2)}`);
console.log(`load before: ${of.load_before.join(' ')} on ${of.cores} cores`);
console.log(writeRecord('encode', { seconds, documents, encoders, vectors, ...served }, of));
process.exitCode = claims.every(([, , holds]) => holds) ? 0 : 1;
