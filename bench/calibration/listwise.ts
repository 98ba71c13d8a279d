/** One query's places: features of each, and whether it answers. */
export interface Listed {
  readonly features: readonly (readonly number[])[];
  readonly relevant: readonly boolean[];
  /** How much the query counts. */
  readonly weight: number;
}

const ROUNDS_MAX = 200;
const RIDGE = 1;
/** The loss falls by less: it is at its end. */
const GAIN_MIN = 1e-6;

/**
 * Weights by which those that answer come first: the likelihood of the answers under a softmax over the places of each query (ListNet, Cao
 * et al. 2007), with an L2 penalty on weights of standardised features; gradient descent with a step that is halved until it helps.
 */
export function fitListwise(all: readonly Listed[]): number[] {
  const lists = all.filter(({ relevant }) => relevant.includes(true) && relevant.includes(false));
  const rows = lists.flatMap(({ features }) => features);
  const width = rows[0]!.length;
  const means = columns(width, (at) => rows.reduce((sum, row) => sum + row[at]!, 0) / rows.length);
  const deviations = columns(
    width,
    (at) => Math.sqrt(rows.reduce((sum, row) => sum + (row[at]! - means[at]!) ** 2, 0) / rows.length) || 1,
  );
  const scaled = lists.map((list) => ({
    ...list,
    features: list.features.map((row) => row.map((value, at) => (value - means[at]!) / deviations[at]!)),
  }));
  const total = lists.reduce((sum, { weight }) => sum + weight, 0);
  let weights = columns(width, () => 0);
  let { loss, gradient } = lossOf(scaled, weights, total);
  let step = 1;
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const next = weights.map((weight, at) => weight - step * gradient[at]!);
    const tried = lossOf(scaled, next, total);
    if (tried.loss > loss) {
      step /= 2;
      continue;
    }
    const gain = loss - tried.loss;
    [weights, loss, gradient] = [next, tried.loss, tried.gradient];
    if (gain < GAIN_MIN) break;
    step *= 1.5;
  }
  return weights.map((weight, at) => weight / deviations[at]!);
}

function lossOf(lists: readonly Listed[], weights: readonly number[], total: number) {
  let loss = (RIDGE / total) * weights.reduce((sum, weight) => sum + weight * weight, 0);
  const gradient = weights.map((weight) => (2 * RIDGE * weight) / total);
  for (const { features, relevant, weight } of lists) {
    const scores = features.map((row) => row.reduce((sum, value, at) => sum + value * weights[at]!, 0));
    const most = Math.max(...scores);
    const odds = scores.map((score) => Math.exp(score - most));
    const all = odds.reduce((sum, value) => sum + value, 0);
    const answers = relevant.filter(Boolean).length;
    for (const [place, row] of features.entries()) {
      const share = relevant[place] ? 1 / answers : 0;
      if (share > 0) loss -= (weight / total) * share * (scores[place]! - most - Math.log(all));
      const pull = (weight / total) * (odds[place]! / all - share);
      for (let at = 0; at < row.length; at += 1) gradient[at]! += pull * row[at]!;
    }
  }
  return { loss, gradient };
}

const columns = (width: number, of: (at: number) => number) =>
  Array.from({ length: width }, (_, at) => of(at));
