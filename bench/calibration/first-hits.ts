/** Whether the confidences of first hits are true. */

/** A first hit: its confidence, and whether it is right. */
export interface FirstHit {
  readonly confidence: number;
  readonly right: boolean;
}

const BINS = 10;
const RESAMPLES = 200;

/** Expected calibration error over ten bins of equal count (Guo et al. 2017, arXiv:1706.04599), with its 90 % bootstrap interval. */
export function calibrationError(hits: readonly FirstHit[]): { ece: number; low: number; high: number } {
  let state = 1;
  const random = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const resampled = Array.from({ length: RESAMPLES }, () =>
    errorOf(hits.map(() => hits[Math.floor(random() * hits.length)]!)),
  ).sort((a, b) => a - b);
  const at = (share: number) => rounded(resampled[Math.floor(share * RESAMPLES)] ?? 0);
  return { ece: rounded(errorOf(hits)), low: at(0.05), high: at(0.95) };
}

function errorOf(hits: readonly FirstHit[]): number {
  const sorted = hits.toSorted((a, b) => a.confidence - b.confidence);
  let error = 0;
  for (let bin = 0; bin < BINS; bin += 1) {
    const part = sorted.slice(
      Math.floor((bin * hits.length) / BINS),
      Math.floor(((bin + 1) * hits.length) / BINS),
    );
    error += Math.abs(part.reduce((sum, { confidence, right }) => sum + confidence - Number(right), 0));
  }
  return error / Math.max(1, hits.length);
}

/** The confidence over which this share of the right first hits stands, and the share of the others that stand under it. */
export function thresholdOf(
  right: readonly number[],
  unanswerable: readonly number[],
  share = 0.9,
): { threshold: number; unanswerable_below: number } {
  const threshold = right.toSorted((a, b) => a - b)[Math.floor(right.length * (1 - share))] ?? 0;
  return { threshold: rounded(threshold), unanswerable_below: rounded(shareBelow(unanswerable, threshold)) };
}

export function shareBelow(values: readonly number[], threshold: number): number {
  return values.filter((value) => value < threshold).length / Math.max(1, values.length);
}

export const rounded = (value: number): number => Math.round(value * 1000) / 1000;
