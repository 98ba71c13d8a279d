import type { Run } from '../rig/drive.ts';
import { type Figure, spreadOf } from '../rig/figures.ts';
import type { Measured } from './measure.ts';

const OF_A_RUN = {
  per_second: ({ per_second }: Run) => per_second,
  p50_ms: ({ latency_ms }: Run) => latency_ms?.p50,
  p99_ms: ({ latency_ms }: Run) => latency_ms?.p99,
  processor_ms: ({ cpu_ms_per_answer }: Run) => cpu_ms_per_answer,
  memory_mib: ({ anonymous_mib }: Run) => anonymous_mib,
  refused: ({ refused }: Run) => refused,
};

/** For each scenario medians over its runs with their spread, Farthing's beside the other's. */
export function figuresBeside(measured: readonly Measured[]): Record<string, Record<string, Figure>> {
  const found: Record<string, Record<string, Figure>> = {};
  for (const { scenario, runs } of measured.filter(({ who }) => who === 'farthing')) {
    const other = measured.find((one) => one.scenario === scenario && one.who === 'assembled');
    const named = Object.entries(OF_A_RUN).flatMap(([name, of]): [string, Figure][] => {
      const values = (all: readonly Run[] = []) => all.flatMap((run) => of(run) ?? []);
      const [ours, theirs] = [values(runs), values(other?.runs)];
      if (ours.length === 0) return [];
      const peer = theirs.length > 0 ? { peer: 'assembled', peer_value: spreadOf(theirs).value } : {};
      return [[name, { ...spreadOf(ours), ...peer }]];
    });
    found[scenario] = Object.fromEntries(named);
  }
  return found;
}
