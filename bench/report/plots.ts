import { type Measured, median } from '../job/measure.ts';
import { SHARES } from '../load/drive.ts';
import type { Reliable } from '../rig/reliability.ts';
import type { Chart, Series } from './chart.ts';

/** The figures of a report, each from what a record holds; those whose data is absent are left out. */

export interface BenchRecord {
  readonly scenarios?: readonly Measured[];
}

export interface IndexRecord {
  readonly engines?: readonly {
    readonly engine: string;
    readonly rows?: number;
    readonly p50_ms?: number;
    readonly recall_at_30?: number;
  }[];
}

export interface QualityRecord {
  readonly reliability?: readonly Reliable[];
}

export interface SoakRecord {
  readonly samples?: readonly {
    readonly minute: number;
    readonly anonymous_mib: number;
    readonly open_files: number;
  }[];
}

const withRuns = (scenarios: readonly Measured[] = []) => scenarios.filter(({ runs }) => runs.length > 0);

/** Quantiles of all runs against the share of requests that took longer. */
function distribution(
  { who, title, runs }: Measured,
  name = who as string,
): Series & { readonly title: string } {
  const latencies = runs.flatMap(({ latency_ms }) => latency_ms ?? []);
  const points = SHARES.flatMap((share, index): [number, number][] =>
    share === 1 || latencies.length === 0
      ? []
      : [[1 / (1 - share), median(latencies.map(({ at }) => at[index]!))]],
  );
  return { name, title, points };
}

export function latencyCharts({ scenarios }: BenchRecord): Chart[] {
  const names = [...new Set(withRuns(scenarios).map(({ scenario }) => scenario))];
  const shown = names.filter((name) => ['search-1', 'search-verify-50', 'search-half'].includes(name));
  return shown.map((name) => {
    const series = withRuns(scenarios)
      .filter(({ scenario }) => scenario === name)
      .map((one) => distribution(one));
    return {
      title: series[0]!.title,
      x: { label: 'one in so many requests took longer', log: true },
      y: { label: 'milliseconds', from: 0 },
      series,
    };
  });
}

export function throughputChart({ scenarios }: BenchRecord): Chart[] {
  const closed = withRuns(scenarios).filter(({ scenario }) => /^search-\d+$/.test(scenario));
  const series = [...new Set(closed.map(({ who }) => who))].map((who) => ({
    name: who,
    points: closed
      .filter((one) => one.who === who)
      .map(({ loop, runs }): [number, number] => [
        'clients' in loop ? loop.clients : 0,
        median(runs.map(({ per_second }) => per_second)),
      ]),
  }));
  if (series.length === 0) return [];
  return [
    {
      title: 'Paid searches a second against clients',
      x: { label: 'clients', log: true },
      y: { label: 'searches a second', from: 0 },
      series,
    },
  ];
}

export function interferenceChart({ scenarios }: BenchRecord): Chart[] {
  const of = withRuns(scenarios).filter(({ scenario }) =>
    ['search-alone', 'search-ingest'].includes(scenario),
  );
  if (of.length === 0) return [];
  const series = of.map((one) =>
    distribution(one, `${one.who}, ${one.scenario === 'search-alone' ? 'alone' : 'with uploads'}`),
  );
  return [
    {
      title: 'Searches alone, and while abstracts are uploaded',
      x: { label: 'one in so many requests took longer', log: true },
      y: { label: 'milliseconds', log: true },
      series,
    },
  ];
}

/** One point for each engine and size; faster is to the left, better is higher. */
export function recallChart({ engines = [] }: IndexRecord): Chart[] {
  const measured = engines.filter(
    ({ p50_ms, recall_at_30 }) => p50_ms !== undefined && recall_at_30 !== undefined,
  );
  return [...new Set(measured.map(({ rows }) => rows))].map((rows) => ({
    title: `Recall against speed, ${rows?.toLocaleString('en')} rows`,
    x: { label: 'median milliseconds of a search', log: true },
    y: { label: 'recall@30', to: 1.001 },
    series: measured
      .filter((one) => one.rows === rows)
      .map(({ engine, p50_ms, recall_at_30 }) => ({
        name: engine,
        dots: true,
        points: [[p50_ms!, recall_at_30!] as const],
      })),
  }));
}

/** One figure for each set: its families, and the line on which a true confidence lies. */
export function reliabilityCharts({ reliability = [] }: QualityRecord): Chart[] {
  const diagonal: Series = {
    name: 'a true confidence',
    dashed: true,
    points: [
      [0, 0],
      [1, 1],
    ],
  };
  return [...new Set(reliability.map(({ set }) => set))].map((set) => ({
    title: `Reliability: ${set}`,
    x: { label: 'confidence', from: 0, to: 1 },
    y: { label: 'share of hits that are relevant', from: 0, to: 1 },
    series: [
      ...reliability
        .filter((one) => one.set === set)
        .map(({ list, ece, bins }) => ({
          name: `${list} (ECE ${ece.toFixed(3)})`,
          points: bins.map(({ confidence, relevant }): [number, number] => [confidence, relevant]),
        })),
      diagonal,
    ],
  }));
}

export function soakCharts({ samples = [] }: SoakRecord): Chart[] {
  if (samples.length < 2) return [];
  const of = (name: string, label: string, figure: 'anonymous_mib' | 'open_files'): Chart => ({
    title: `Soak: ${name}`,
    x: { label: 'minutes' },
    y: { label, from: 0 },
    series: [{ name, points: samples.map((one): [number, number] => [one.minute, one[figure]]) }],
  });
  return [of('memory of its own', 'MiB', 'anonymous_mib'), of('open files', 'files', 'open_files')];
}
