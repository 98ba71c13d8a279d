import type { Run } from '../rig/drive.ts';
import { median } from '../rig/figures.ts';
import type { Who } from './contenders.ts';
import type { Measured } from './measure.ts';

/** What the project aims at beside the assembled stack, and what this run says of it. */
export interface Claim {
  readonly claim: string;
  readonly goal: number;
  /** Null: not measured in this run. */
  readonly figure: number | null;
  readonly holds: boolean | null;
}

export interface JudgedServer {
  readonly who: Who;
  readonly ndcg_at_10: number;
}

export function claimsOf(scenarios: readonly Measured[], quality: readonly JudgedServer[]): Claim[] {
  const of = (scenario: string, who: Who, figure: (run: Run) => number | undefined) => {
    const values = scenarios
      .filter((one) => one.scenario === scenario && one.who === who)
      .flatMap(({ runs }) => runs.flatMap((run) => figure(run) ?? []));
    return values.length > 0 ? median(values) : undefined;
  };
  const rate = ({ per_second }: Run) => per_second;
  const p50 = ({ latency_ms }: Run) => latency_ms?.p50;
  const p99 = ({ latency_ms }: Run) => latency_ms?.p99;
  const ndcg = (who: Who) => quality.find((one) => one.who === who)?.ndcg_at_10;
  const capacity = capacityOf(scenarios, 'farthing');
  const other = capacityOf(scenarios, 'assembled');
  const atLeast = (claim: string, goal: number, figure: number | undefined): Claim => ({
    claim,
    goal,
    figure: rounded(figure),
    holds: figure === undefined ? null : figure >= goal,
  });
  const atMost = (claim: string, goal: number, figure: number | undefined): Claim => ({
    claim,
    goal,
    figure: rounded(figure),
    holds: figure === undefined ? null : figure <= goal,
  });
  const latency = (scenario: string, figure: typeof p50) =>
    ratio(of(scenario, 'assembled', figure), of(scenario, 'farthing', figure));
  return [
    atLeast('paid search, p50: times faster than the assembled stack', 3, latency('search-1', p50)),
    atLeast('paid search, p99: times faster', 3, latency('search-1', p99)),
    atLeast('the same with 50 ms of verification, p50: times faster', 3, latency('search-verify-50', p50)),
    atLeast('paid searches a second: times as many', 5, ratio(capacity?.perSecond, other?.perSecond)),
    atLeast(
      'uploads a second: times as many',
      1,
      ratio(of('ingest', 'farthing', rate), of('ingest', 'assembled', rate)),
    ),
    atLeast('nDCG@10: more than the assembled stack’s', 0, difference(ndcg('farthing'), ndcg('assembled'))),
    atMost(
      'p99 of what is accepted at three times the capacity, against p99 at capacity',
      3,
      ratio(of('overload', 'farthing', p99), capacity?.p99),
    ),
    atMost(
      'p99 while abstracts are uploaded, against p99 without',
      2,
      ratio(of('search-ingest', 'farthing', p99), of('search-alone', 'farthing', p99)),
    ),
  ];
}

/** The closed loop that reached most, and its p99. */
function capacityOf(
  scenarios: readonly Measured[],
  who: Who,
): { perSecond: number; p99: number } | undefined {
  const closed = scenarios.filter((one) => one.who === who && /^search-\d+$/.test(one.scenario));
  const reached = closed.map(({ runs }) => ({
    perSecond: median(runs.map(({ per_second }) => per_second)),
    p99: median(runs.flatMap(({ latency_ms }) => latency_ms?.p99 ?? [])),
  }));
  return reached.toSorted((one, next) => next.perSecond - one.perSecond)[0];
}

const ratio = (one: number | undefined, other: number | undefined) =>
  one === undefined || !other ? undefined : one / other;
const difference = (one: number | undefined, other: number | undefined) =>
  one === undefined || other === undefined ? undefined : one - other;
const rounded = (value: number | undefined) => (value === undefined ? null : Number(value.toFixed(4)));

const VERDICTS = new Map([
  [null, 'open'],
  [true, 'holds'],
  [false, 'short'],
]);

export const shownClaim = ({ claim, goal, figure, holds }: Claim): string =>
  `${VERDICTS.get(holds)!.padEnd(7)}${claim.padEnd(80)} ${figure === null ? 'not measured' : figure.toFixed(2)} (goal ${goal})`;
