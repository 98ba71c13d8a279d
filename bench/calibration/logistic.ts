/** A row of features, whether what it describes is relevant, and how much it counts. */
export interface Judged {
  readonly features: readonly number[];
  readonly relevant: boolean;
  readonly weight: number;
}

export interface Logistic {
  readonly bias: number;
  readonly weights: readonly number[];
}

/** Strength of the pull towards 0 of the weights of standardised features. */
const RIDGE = 30;
const ROUNDS_MAX = 50;

/** Logistic regression with an L2 penalty, by Newton's method (Hastie, Tibshirani and Friedman 2009, section 4.4). */
export function fitLogistic(rows: readonly Judged[], ridge = RIDGE): Logistic {
  const width = rows[0]!.features.length;
  const total = rows.reduce((sum, { weight }) => sum + weight, 0);
  const average = (of: (row: Judged) => number) =>
    rows.reduce((sum, row) => sum + row.weight * of(row), 0) / total;
  const means = Array.from({ length: width }, (_, at) => average(({ features }) => features[at]!));
  const deviations = means.map(
    (mean, at) => Math.sqrt(average(({ features }) => (features[at]! - mean) ** 2)) || 1,
  );
  const scaled = rows.map(({ features }) => [
    1,
    ...features.map((value, at) => (value - means[at]!) / deviations[at]!),
  ]);
  let found: number[] = Array(width + 1).fill(0);
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const gradient: number[] = found.map((value, at) => (at === 0 ? 0 : ridge * value));
    const curvature = found.map((_, row) => found.map((__, at) => (row === at && row > 0 ? ridge : 1e-9)));
    for (const [index, x] of scaled.entries()) {
      const { relevant, weight } = rows[index]!;
      const p = 1 / (1 + Math.exp(-x.reduce((sum, value, at) => sum + value * found[at]!, 0)));
      for (let at = 0; at <= width; at += 1) {
        gradient[at]! += weight * (p - Number(relevant)) * x[at]!;
        for (let other = 0; other <= width; other += 1)
          curvature[at]![other]! += weight * p * (1 - p) * x[at]! * x[other]!;
      }
    }
    const step = solve(curvature, gradient);
    found = found.map((value, at) => value - step[at]!);
    if (Math.max(...step.map(Math.abs)) < 1e-8) break;
  }
  const weights = found.slice(1).map((value, at) => value / deviations[at]!);
  return { bias: found[0]! - weights.reduce((sum, value, at) => sum + value * means[at]!, 0), weights };
}

/** Gauss–Jordan elimination with row pivots. */
function solve(matrix: readonly (readonly number[])[], right: readonly number[]): number[] {
  const rows = matrix.map((row, at) => [...row, right[at]!]);
  for (let at = 0; at < rows.length; at += 1) {
    let pivot = at;
    for (let row = at; row < rows.length; row += 1)
      if (Math.abs(rows[row]![at]!) > Math.abs(rows[pivot]![at]!)) pivot = row;
    [rows[at], rows[pivot]] = [rows[pivot]!, rows[at]!];
    for (let row = 0; row < rows.length; row += 1) {
      if (row === at) continue;
      const factor = rows[row]![at]! / rows[at]![at]!;
      for (let column = at; column <= rows.length; column += 1)
        rows[row]![column]! -= factor * rows[at]![column]!;
    }
  }
  return rows.map((row, at) => row[rows.length]! / row[at]!);
}
