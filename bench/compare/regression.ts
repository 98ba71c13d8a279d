import { median } from '../job/measure.ts';
import type { Run } from '../load/drive.ts';

/** What is read of a record. */
export interface Comparable {
  readonly machine: { readonly processor: string; readonly cores: number };
  readonly scenarios: readonly {
    readonly scenario: string;
    readonly who: string;
    readonly loop?: object;
    readonly runs: readonly Pick<Run, 'per_second' | 'latency_ms' | 'cpu_ms_per_answer' | 'anonymous_mib'>[];
  }[];
}

export interface Change {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  /** Share of the first figure that the runs of both records differ by among themselves. */
  readonly noise: number;
  readonly verdict: 'better' | 'worse' | 'same';
}

type Figure = (run: Comparable['scenarios'][number]['runs'][number]) => number | undefined;

/** `higher`: more is better. */
const FIGURES: readonly { readonly name: string; readonly of: Figure; readonly higher?: boolean }[] = [
  { name: 'a second', of: ({ per_second }) => per_second, higher: true },
  { name: 'p50 ms', of: ({ latency_ms }) => latency_ms?.p50 },
  { name: 'p99 ms', of: ({ latency_ms }) => latency_ms?.p99 },
  { name: 'cpu ms', of: ({ cpu_ms_per_answer }) => cpu_ms_per_answer },
  { name: 'memory MiB', of: ({ anonymous_mib }) => anonymous_mib },
];
/** What processor clocks and the scheduler do by themselves is never less. */
const NOISE_LEAST = 0.05;

/**
 * Sets every figure of both records side by side. It changed when all runs of one lie on one side of all runs of the other, and the
 * medians differ by more than the spread of both.
 */
export function compareRecords(
  before: Comparable,
  after: Comparable,
): { machinesDiffer: boolean; changes: Change[] } {
  const changes: Change[] = [];
  for (const one of before.scenarios) {
    const other = after.scenarios.find(({ scenario, who }) => scenario === one.scenario && who === one.who);
    if (!other) continue;
    for (const { name, of, higher = false } of FIGURES) {
      const values = (runs: typeof one.runs) => runs.flatMap((run) => of(run) ?? []);
      const [from, to] = [values(one.runs), values(other.runs)];
      // How many requests an open loop sends was decided beforehand.
      const isOpen = one.loop !== undefined && 'perSecond' in one.loop;
      if (from.length === 0 || to.length === 0 || (isOpen && higher)) continue;
      changes.push({ name: `${one.scenario}, ${one.who}: ${name}`, ...changeOf(from, to, higher) });
    }
  }
  const { processor, cores } = before.machine;
  return { machinesDiffer: processor !== after.machine.processor || cores !== after.machine.cores, changes };
}

function changeOf(
  before: readonly number[],
  after: readonly number[],
  higher: boolean,
): Omit<Change, 'name'> {
  const [from, to] = [median(before), median(after)];
  const spread = (values: readonly number[]) => (Math.max(...values) - Math.min(...values)) / 2;
  const noise = Math.max(NOISE_LEAST, (spread(before) + spread(after)) / Math.abs(from || 1));
  const isApart = Math.max(...before) < Math.min(...after) || Math.max(...after) < Math.min(...before);
  const differs = isApart && Math.abs(to - from) > noise * Math.abs(from);
  const isBetter = higher ? to > from : to < from;
  return { from, to, noise, verdict: differs ? (isBetter ? 'better' : 'worse') : 'same' };
}
