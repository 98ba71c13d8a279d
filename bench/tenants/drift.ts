import { median } from '../rig/figures.ts';

/** How a figure went from the second third of a run to the last: the first third is warm-up. */
export interface Drift {
  readonly from: number;
  readonly to: number;
  readonly by: number;
  /** Change as a share of `from`. */
  readonly share: number;
}

export function driftOf(values: readonly number[]): Drift {
  const third = Math.max(1, Math.floor(values.length / 3));
  const [from, to] = [median(values.slice(third, 2 * third)), median(values.slice(-third))];
  return { from, to, by: to - from, share: from === 0 ? 0 : (to - from) / from };
}
