import type { Row } from './record.ts';

export interface Change {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  /** Share of the first figure that the repetitions of both differ by among themselves. */
  readonly noise: number;
  readonly verdict: 'better' | 'worse' | 'same';
}

type Compared = Pick<Row, 'machine' | 'cores' | 'bench' | 'metric' | 'value' | 'unit' | 'low' | 'high'>;

/** Least noise: processor clocks and the scheduler alone cause as much. */
const NOISE_LEAST = 0.05;
const LESS_IS_BETTER = new Set(['ms', 'µs', 's', 'MiB', '%']);
/** An open loop sends as much as was decided beforehand. */
const DECIDED = /^(?:search-half|search-ingest|search-alone)\/per_second$/;

/**
 * Sets the figures that both records have side by side, the last of each where there are several. One changed when all repetitions of one
 * record lie on one side of all of the other, and the medians differ by more than the spread of both.
 */
export function compareRecords(
  before: readonly Compared[],
  after: readonly Compared[],
): { readonly machinesDiffer: boolean; readonly changes: readonly Change[] } {
  const [first, second] = [lastOf(before), lastOf(after)];
  const changes = [...first].flatMap(([name, one]): Change[] => {
    const other = second.get(name);
    return other && one.unit !== '' && !DECIDED.test(String(one.metric)) ? [changeOf(name, one, other)] : [];
  });
  const machineOf = ([one]: readonly Compared[]) => `${one?.machine}, ${one?.cores}`;
  return { machinesDiffer: machineOf(before) !== machineOf(after), changes };
}

const lastOf = (rows: readonly Compared[]) =>
  new Map(rows.map((row) => [`${row.bench}: ${row.metric}`, row]));

function changeOf(name: string, before: Compared, after: Compared): Change {
  const spread = ({ value, low, high }: Compared) => [Number(low || value), Number(high || value)] as const;
  const [[least, most], [nextLeast, nextMost]] = [spread(before), spread(after)];
  const [from, to] = [Number(before.value), Number(after.value)];
  const noise = Math.max(NOISE_LEAST, (most - least + nextMost - nextLeast) / 2 / Math.abs(from || 1));
  const isApart = most < nextLeast || nextMost < least;
  const differs = isApart && Math.abs(to - from) > noise * Math.abs(from);
  const isBetter = LESS_IS_BETTER.has(String(before.unit)) ? to < from : to > from;
  return { name, from, to, noise, verdict: differs ? (isBetter ? 'better' : 'worse') : 'same' };
}
