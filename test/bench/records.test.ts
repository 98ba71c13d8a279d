import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { claimsOf } from '../../bench/job/claims.ts';
import { writeReport } from '../../bench/report.ts';
import { compareRecords } from '../../bench/rig/compare-records.ts';
import { csvOf, rowsIn } from '../../bench/rig/csv.ts';
import { latencyOf } from '../../bench/rig/drive.ts';
import { type Figure, figuresOf } from '../../bench/rig/figures.ts';
import { COLUMNS, RECORDS, type Row } from '../../bench/rig/record.ts';
import { driftOf } from '../../bench/tenants/drift.ts';

const RUN = {
  date: '2026-11-25',
  machine: 'a processor',
  simd: 'avx2',
  cores: 2,
  load: 0.5,
  commit: 'abc',
  bench: 'quick',
  command: 'make bench NAME=quick',
};
const record = (facts: object, of: object = {}): Row[] =>
  figuresOf(facts).map((figure) => ({ ...RUN, ...of, ...figure }));
const search = (perSecond: readonly number[], ms: readonly number[]) =>
  record({ 'search-1': { per_second: perSecond, p50_ms: ms } });
const verdicts = (...of: Parameters<typeof compareRecords>) =>
  Object.fromEntries(compareRecords(...of).changes.map(({ name, verdict }) => [name.split('/')[1], verdict]));

t.test('numbers become rows with a unit, lists their median and spread, a peer stands beside', async (t) => {
  const beside: Figure = { value: 2, unit: 'ms', peer: 'other', peer_value: 4 };
  const figures = figuresOf({
    beside,
    searches_ms: [3, 1, 2],
    engines: [{ engine: 'one, two', rows: 10, p50_ms: 0.5, note: 'text' }],
    absent: undefined,
  });
  t.match(figures, [
    { metric: 'beside', value: 2, unit: 'ms', peer: 'other', peer_value: 4 },
    { metric: 'searches_ms', value: 2, unit: 'ms', low: 1, high: 3 },
    { metric: 'engines/one, two, rows 10/p50_ms', value: 0.5, unit: 'ms', low: '', peer: '' },
  ]);
  t.equal(figures.length, 3);
  const rows = record({ 'a "quoted", name': 1 });
  t.same(rowsIn(csvOf(COLUMNS, rows)), rows, 'what is written is read');
  t.throws(() => rowsIn('a,b\n1\n'), /line 2 has 1 cells, not 2/);
});

t.test('a difference within the noise of the runs is none; one beyond it is a regression', async (t) => {
  const before = search([100, 104, 98], [10, 10.4, 9.8]);
  t.match(verdicts(before, search([97, 101, 99], [10.1, 10, 10.3])), { per_second: 'same', p50_ms: 'same' });
  t.match(verdicts(before, search([80, 82, 81], [13, 13.2, 13.1])), {
    per_second: 'worse',
    p50_ms: 'worse',
  });
  t.match(verdicts(before, search([150, 149, 151], [6, 6.1, 6.2])), {
    per_second: 'better',
    p50_ms: 'better',
  });
});

t.test('runs that differ as much among themselves hide a difference', async (t) => {
  const noisy = search([100, 60, 140], [10, 6, 14]);
  t.match(verdicts(noisy, search([80, 50, 110], [13, 9, 17])), { per_second: 'same', p50_ms: 'same' });
});

t.test('the rate of an open loop is no figure, and other machines are told apart', async (t) => {
  const open = (rate: number, of = {}) => record({ 'search-half': { per_second: [rate] } }, of);
  t.same(verdicts(open(100), open(50)), {});
  t.equal(compareRecords(open(100), open(100, { machine: 'another' })).machinesDiffer, true);
});

t.test('a run judges the aims by its own figures, and says what it did not measure', async (t) => {
  const of = (scenario: string, who: 'farthing' | 'assembled', perSecond: number, ms: number) => ({
    scenario,
    title: scenario,
    who,
    loop: { clients: 1 },
    runs: [
      {
        per_second: perSecond,
        latency_ms: latencyOf([ms]),
        cpu_ms_per_answer: 5,
        anonymous_mib: 300,
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

t.test('a report is one page that asks nobody, with tables and charts', async (t) => {
  const folder = join(t.testdir({}), 'record');
  mkdirSync(folder);
  const path = join(folder, 'one.csv');
  const beside = { value: 100, unit: '/s', peer: 'assembled', peer_value: 50 };
  const facts = { 'search-1': { per_second: beside }, 'search-16': { per_second: beside }, 'a <b>': 1 };
  writeFileSync(path, csvOf(COLUMNS, record(facts)));
  const page = readFileSync(writeReport(path), 'utf8');
  t.notMatch(page, /<script src|<link|src="http/);
  t.match(page, /a &lt;b&gt;/);
  const charts = JSON.parse(/const charts = (.*)/.exec(page)![1]!);
  t.match(charts, [
    {
      title: 'Paid searches a second',
      series: [{}, { label: 'farthing' }, { label: 'assembled' }],
      data: [
        [1, 16],
        [100, 100],
        [50, 50],
      ],
    },
  ]);
});

t.test('no record names a folder of the machine that made it', async (t) => {
  const files = readdirSync(RECORDS).filter((name) => name.endsWith('.csv'));
  t.ok(files.length > 0);
  const places = files.flatMap((name) =>
    rowsIn<Row>(readFileSync(join(RECORDS, name), 'utf8')).filter(({ command }) =>
      /[ =]\//.test(String(command)),
    ),
  );
  t.same(places, []);
});
