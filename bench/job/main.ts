import { mean, ndcg } from '../rig/retrieval.ts';
import { type BeirSet, benchSet } from '../sets/beir.ts';
import { type Contender, startContest, type Who } from './contenders.ts';
import { figuresBeside } from './figures.ts';
import { type Measured, Measurement } from './measure.ts';
import { FULL, type Plan, QUICK, TRIAL } from './scenarios.ts';

/**
 * The whole job beside the stack that one would otherwise assemble, in one run: `make bench`, `make bench-quick`, or
 * `make bench SET=folder` with any set of BEIR's shape.
 */

const PLANS: Readonly<Record<string, Plan>> = { full: FULL, quick: QUICK, trial: TRIAL };
const plan = PLANS[process.env.PLAN!]!;
const set = await benchSet();
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
      console.log(
        `  ${one.who}: ${one.runs.map(({ per_second }) => per_second.toFixed(1)).join(', ')} a second`,
      );
    }
    if (scenario.what === 'ingest') quality = await judgeAll();
  }
} finally {
  await contest.stop();
}
/** Farthing's figures, beside the other's. */
export const facts = {
  ...figuresBeside(measured),
  ndcg_at_10: Object.fromEntries(quality.map(({ who, ndcg_at_10 }) => [who, ndcg_at_10])),
};

interface Quality {
  readonly who: Who;
  readonly ndcg_at_10: number;
  readonly queries: number;
}

async function judgeAll(): Promise<Quality[]> {
  const all: Quality[] = [];
  for (const contender of contest.contenders) all.push(await judge(contender, set));
  for (const { who, ndcg_at_10, queries } of all)
    console.log(`  ${who.padEnd(10)} nDCG@10 ${ndcg_at_10.toFixed(4)} over ${queries} queries`);
  return all;
}

/** Every fourth query in a quick run; documents that were not uploaded count as not relevant. */
async function judge(contender: Contender, { queries, judgements }: BeirSet): Promise<Quality> {
  const payer = contender.payer;
  const offer = await contender.offer('search');
  const step = plan === FULL ? 1 : 4;
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
