import { type Calibration, confidenceOf } from '../../src/search/relevance.ts';

/** A score, and whether what it was given to is relevant. */
export interface Judged {
  readonly score: number;
  readonly relevant: boolean;
}

/**
 * Fits the probability of relevance of a score: Newton's method on the log-likelihood with the smoothed targets of Platt
 * (1999), as in Lin, Lin and Weng (2007, "A note on Platt's probabilistic outputs").
 */
export function fitLogistic(pairs: readonly Judged[], of: Calibration['of']): Calibration {
  const positive = pairs.filter(({ relevant }) => relevant).length;
  const high = (positive + 1) / (positive + 2);
  const low = 1 / (pairs.length - positive + 2);
  const rows = pairs.map(({ score, relevant }) => ({
    x: of === 'log_score' ? Math.log1p(Math.max(0, score)) : score,
    y: relevant ? high : low,
  }));
  const loss = (a: number, b: number) =>
    rows.reduce((sum, { x, y }) => sum + softplus(a * x + b) - y * (a * x + b), 0);
  let a = 0;
  let b = Math.log((positive + 1) / (pairs.length - positive + 1));
  for (let round = 0; round < 100; round++) {
    let [ga, gb, haa, hab, hbb] = [0, 0, 1e-9, 0, 1e-9];
    for (const { x, y } of rows) {
      const p = 1 / (1 + Math.exp(-(a * x + b)));
      const w = p * (1 - p);
      ga += (p - y) * x;
      gb += p - y;
      haa += w * x * x;
      hab += w * x;
      hbb += w;
    }
    const determinant = haa * hbb - hab * hab;
    const [da, db] = [(hbb * ga - hab * gb) / determinant, (haa * gb - hab * ga) / determinant];
    let step = 1;
    while (step > 1e-6 && loss(a - step * da, b - step * db) > loss(a, b)) step /= 2;
    a -= step * da;
    b -= step * db;
    if (Math.abs(step * da) + Math.abs(step * db) < 1e-9) break;
  }
  return { a: Number(a.toFixed(4)), b: Number(b.toFixed(4)), of };
}

function softplus(z: number): number {
  return z > 0 ? z + Math.log1p(Math.exp(-z)) : Math.log1p(Math.exp(z));
}

export interface Reliability {
  /** Mean of |confidence − share of relevant| over bins of equal width, weighted by their pairs (Guo et al. 2017). */
  readonly ece: number;
  /** Of the first hit of each query alone: what an agent reads first. */
  readonly bins: readonly {
    readonly confidence: number;
    readonly relevant: number;
    readonly pairs: number;
  }[];
}

const BINS = 10;

export function reliabilityOf(pairs: readonly Judged[], calibration: Calibration): Reliability {
  const bins = Array.from({ length: BINS }, () => ({ sum: 0, relevant: 0, pairs: 0 }));
  for (const { score, relevant } of pairs) {
    const confidence = confidenceOf(calibration, score);
    const bin = bins[Math.min(BINS - 1, Math.floor(confidence * BINS))]!;
    bin.sum += confidence;
    bin.relevant += Number(relevant);
    bin.pairs += 1;
  }
  const filled = bins.filter(({ pairs }) => pairs > 0);
  const ece =
    filled.reduce((total, { sum, relevant }) => total + Math.abs(sum - relevant), 0) /
    Math.max(1, pairs.length);
  const rounded = (value: number) => Math.round(value * 1000) / 1000;
  return {
    ece: rounded(ece),
    bins: filled.map(({ sum, relevant, pairs: count }) => ({
      confidence: rounded(sum / count),
      relevant: rounded(relevant / count),
      pairs: count,
    })),
  };
}
