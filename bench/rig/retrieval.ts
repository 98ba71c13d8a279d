/** Measures of ranked lists, as BEIR's trec_eval computes them. */

export type Grades = ReadonlyMap<string, number>;

/** Linear gain, logarithmic discount. */
export function ndcg(ranked: readonly string[], grades: Grades, cut = 10): number {
  const gain = (values: readonly number[]) =>
    values.slice(0, cut).reduce((sum, grade, rank) => sum + grade / Math.log2(rank + 2), 0);
  const best = gain([...grades.values()].filter((grade) => grade > 0).sort((a, b) => b - a));
  return best === 0 ? 0 : gain(ranked.map((document) => Math.max(0, grades.get(document) ?? 0))) / best;
}

/** Share of the relevant ones that are among the first. */
export function recall(ranked: readonly string[], grades: Grades, cut = 100): number {
  const relevant = [...grades].filter(([, grade]) => grade > 0).map(([document]) => document);
  const found = new Set(ranked.slice(0, cut));
  return relevant.length === 0 ? 0 : relevant.filter((one) => found.has(one)).length / relevant.length;
}

export const mean = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
