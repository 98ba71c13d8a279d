import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { compareRecords } from '../../bench/compare/regression.ts';
import { claimsOf } from '../../bench/job/claims.ts';
import { latencyOf } from '../../bench/load/drive.ts';
import { writeReport } from '../../bench/report/report.ts';
import { driftOf } from '../../bench/soak/drift.ts';

const machine = { processor: 'a processor', cores: 2 };
const run = (perSecond: number, ms: number) => ({
  per_second: perSecond,
  latency_ms: latencyOf(Array.from({ length: 100 }, (_, index) => ms * (1 + index / 100))),
  cpu_ms_per_answer: 5,
  anonymous_mib: 300,
});
const record = (rates: readonly number[], ms: readonly number[], loop: object = { clients: 1 }) => ({
  machine,
  scenarios: [
    {
      scenario: 'search-1',
      title: 'Paid searches & more',
      who: 'farthing',
      loop,
      runs: rates.map((rate, index) => run(rate, ms[index]!)),
    },
  ],
});
const verdicts = (...of: Parameters<typeof compareRecords>) =>
  Object.fromEntries(
    compareRecords(...of).changes.map(({ name, verdict }) => [name.split(': ')[1], verdict]),
  );

t.test('a difference within the noise of the runs is none; one beyond it is a regression', async (t) => {
  const before = record([100, 104, 98], [10, 10.4, 9.8]);
  t.match(verdicts(before, record([97, 101, 99], [10.1, 10, 10.3])), {
    'a second': 'same',
    'p50 ms': 'same',
  });
  t.match(verdicts(before, record([80, 82, 81], [13, 13.2, 13.1])), {
    'a second': 'worse',
    'p50 ms': 'worse',
  });
  t.match(verdicts(before, record([150, 149, 151], [6, 6.1, 6.2])), {
    'a second': 'better',
    'p99 ms': 'better',
  });
});

t.test('runs that differ as much among themselves hide a difference', async (t) => {
  const noisy = record([100, 60, 140], [10, 6, 14]);
  t.match(verdicts(noisy, record([80, 50, 110], [13, 9, 17])), { 'a second': 'same', 'p50 ms': 'same' });
});

t.test('the rate of an open loop is no figure, and other machines are told apart', async (t) => {
  const open = record([100, 100], [10, 10], { perSecond: 100 });
  t.notOk('a second' in verdicts(open, record([50, 50], [10, 10], { perSecond: 50 })));
  t.equal(
    compareRecords(open, { ...open, machine: { processor: 'another', cores: 2 } }).machinesDiffer,
    true,
  );
});

t.test('a run judges the aims by its own figures, and says what it did not measure', async (t) => {
  const of = (scenario: string, who: 'farthing' | 'assembled', perSecond: number, ms: number) => ({
    scenario,
    title: scenario,
    who,
    loop: { clients: 1 },
    runs: [
      {
        ...run(perSecond, ms),
        refused: 0,
        refused_ms: null,
        statuses: {},
        sent_late_p99_ms: 0,
        cpu_cores: 1,
        resident_mib: 1,
        open_files: 1,
        load: [],
      },
    ],
  });
  const scenarios = [
    of('search-1', 'farthing', 100, 10),
    of('search-1', 'assembled', 25, 40),
    of('search-16', 'farthing', 200, 80),
    of('search-16', 'assembled', 50, 320),
    of('overload', 'farthing', 200, 400),
  ];
  const judged = [
    { who: 'farthing', ndcg_at_10: 0.73 } as const,
    { who: 'assembled', ndcg_at_10: 0.72 } as const,
  ];
  const figures = Object.fromEntries(
    claimsOf(scenarios, judged).map(({ claim, figure, holds }) => [
      claim.split(/[:,]/)[0],
      { figure, holds },
    ]),
  );
  t.match(figures, {
    'paid searches a second': { figure: 4, holds: false },
    'nDCG@10': { figure: 0.01, holds: true },
    'p99 of what is accepted at three times the capacity': { figure: 5, holds: false },
    'uploads a second': { figure: null, holds: null },
  });
  const [fast] = claimsOf(scenarios, judged);
  t.match(fast, { figure: 4, holds: true });
});

t.test('memory that settles is flat, memory that climbs is not', async (t) => {
  const settled = Array.from({ length: 90 }, (_, index) =>
    index < 20 ? 100 + 10 * index : 300 + (index % 7),
  );
  t.ok(Math.abs(driftOf(settled).share) < 0.02);
  t.ok(driftOf(Array.from({ length: 90 }, (_, index) => 300 + 2 * index)).share > 0.1);
});

t.test('a report is one page that asks nobody, with its plots beside it as SVG', async (t) => {
  const folder = join(t.testdir({}), 'record');
  mkdirSync(folder);
  const write = (name: string, facts: object) => writeFileSync(join(folder, name), JSON.stringify(facts));
  write('bench-120000.json', record([100, 104], [10, 11]));
  const engines = [{ engine: 'one', rows: 1000, p50_ms: 0.1, recall_at_30: 1 }];
  write('index.json', { engines });
  const bins = [
    { confidence: 0.1, relevant: 0.12, pairs: 50 },
    { confidence: 0.8, relevant: 0.7, pairs: 20 },
  ];
  write('quality.json', { reliability: [{ set: 'a set', list: 'raw', ece: 0.04, bins }] });
  const page = readFileSync(await writeReport(join(folder, 'bench-120000.json')), 'utf8');
  t.notMatch(page, /<script|<link|https?:\/\/(?!www\.w3\.org\/2000\/svg)/);
  t.match(page, /Paid searches &amp; more/);
  t.same(readdirSync(join(folder, 'plots')).sort(), [
    'latency.svg',
    'recall.svg',
    'reliability.svg',
    'throughput.svg',
  ]);
  for (const name of readdirSync(join(folder, 'plots'))) {
    const svg = readFileSync(join(folder, 'plots', name), 'utf8');
    t.match(svg, /^<svg [\s\S]*<\/svg>\n$/);
    t.notMatch(svg, /NaN|undefined|Infinity/, name);
  }
});
