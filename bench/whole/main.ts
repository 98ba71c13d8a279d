import { claimsOf, type JudgedServer, shownClaim } from '../job/claims.ts';
import { type Contender, hasAssembled, startContest } from '../job/contenders.ts';
import { type Measured, Measurement, median } from '../job/measure.ts';
import { FULL, type Plan, QUICK } from '../job/scenarios.ts';
import { writeReport } from '../report/report.ts';
import { machine, writeRecord } from '../rig/record.ts';
import { mean, ndcg } from '../rig/retrieval.ts';
import { type BeirSet, isBeirSet, readBeirSet, SCIFACT } from '../sets/beir.ts';

/**
 * The whole job beside the stack that one would otherwise assemble, in one run: `make bench`, `make bench-quick`, or
 * `make bench SET=folder` with any set of BEIR's shape. Writes a record and the report beside it.
 */

const folder = process.env.SET || SCIFACT;
const plan: Plan = process.env.PLAN === 'quick' ? QUICK : FULL;
if (!isBeirSet(folder)) {
  console.error(`There is no set of BEIR's shape at ${folder}: give one with SET=folder.`);
  process.exit(3);
}
if (!hasAssembled()) console.error('bench/peers is not installed: without the assembled stack.');

const of = machine();
const started = performance.now();
console.log(`${of.processor}, ${of.cores} cores, Node ${of.node}, load before ${of.load_before.join(' ')}`);
const set = await readBeirSet(folder);
const contest = await startContest();
const measured: Measured[] = [];
let quality: Quality[] = [];
try {
  const measurement = new Measurement(contest, plan, set);
  for (const scenario of plan.scenarios) {
    console.log(`\n${scenario.title}`);
    for (const one of await measurement.scenario(scenario)) {
      measured.push(one);
      refuseFailures(one);
      tell(one);
    }
    if (scenario.what === 'ingest') quality = await judgeAll();
  }
} finally {
  await contest.stop();
}
const seconds = Math.round((performance.now() - started) / 1000);
const { name, documents } = plan;
const time = new Date().toISOString().slice(11, 19).replaceAll(':', '');
const claims = claimsOf(measured, quality);
console.log(`\n${claims.map(shownClaim).join('\n')}`);
const facts = { plan: { name, documents, set: set.name, seconds }, claims, scenarios: measured, quality };
const path = writeRecord(`${name}-${time}`, facts, of);
console.log(`\n${seconds} s; record: ${path}\nreport: ${await writeReport(path)}`);

interface Quality extends JudgedServer {
  readonly queries: number;
}

async function judgeAll(): Promise<Quality[]> {
  const all: Quality[] = [];
  for (const contender of contest.contenders) all.push(await judge(contender, set));
  for (const { who, ndcg_at_10, queries } of all)
    console.log(`  ${who.padEnd(10)} nDCG@10 ${ndcg_at_10.toFixed(4)} over ${queries} queries`);
  return all;
}

/** Every second query at most in a quick run; documents that were not uploaded count as not relevant. */
async function judge(contender: Contender, { queries, judgements }: BeirSet): Promise<Quality> {
  const payer = contender.payer;
  const offer = await contender.offer('search');
  const step = plan === QUICK ? 4 : 1;
  const gains: number[] = [];
  for (const { id, text } of queries.filter((_, index) => index % step === 0)) {
    const response = await fetch(contender.url('search'), {
      method: 'POST',
      headers: await payer.headers(offer),
      body: JSON.stringify({ query: text, k: 100 }),
    });
    if (!response.ok)
      throw new Error(`${contender.who} answered ${response.status}: ${await response.text()}`);
    const { hits } = (await response.json()) as { hits: { item: { name: string } }[] };
    const ranked = [...new Set(hits.map(({ item }) => item.name.replace(/\.md$/, '')))];
    gains.push(ndcg(ranked, judgements.get(id)!));
  }
  return { who: contender.who, ndcg_at_10: Number(mean(gains).toFixed(4)), queries: gains.length };
}

/**
 * Only an overload may be refused: anything else is a fault of the bench, and its figures would be of errors. A connection that
 * ends without an answer (0) is one, but for the other's way of bearing an overload.
 */
function refuseFailures({ scenario, who, runs }: Measured): void {
  const expected = ['200', '503', ...(scenario === 'overload' && who === 'assembled' ? ['0'] : [])];
  for (const { statuses } of runs) {
    const odd = Object.keys(statuses).filter((status) => !expected.includes(status));
    if (odd.length > 0) throw new Error(`${scenario}, ${who}: answers were ${JSON.stringify(statuses)}`);
  }
}

function tell({ who, runs }: Measured): void {
  const of = (figure: (run: Measured['runs'][number]) => number) => median(runs.map(figure));
  const spread = runs.map(({ per_second }) => per_second);
  console.log(
    `  ${who.padEnd(10)} ${of((run) => run.per_second)
      .toFixed(1)
      .padStart(7)}/s (${Math.min(...spread).toFixed(1)}–${Math.max(...spread).toFixed(1)})   ` +
      `p50 ${of((run) => run.latency_ms?.p50 ?? Number.NaN)
        .toFixed(1)
        .padStart(7)}   p99 ${of((run) => run.latency_ms?.p99 ?? Number.NaN)
        .toFixed(1)
        .padStart(7)} ms   ` +
      `cpu ${of((run) => run.cpu_ms_per_answer)
        .toFixed(1)
        .padStart(5)} ms each   memory ${of((run) => run.anonymous_mib)} MiB   ` +
      `refused ${of((run) => run.refused)}`,
  );
}
