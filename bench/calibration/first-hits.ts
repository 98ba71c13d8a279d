/** Whether the confidences of first hits are true. */

/** A first hit: its confidence, and whether it is right. */
export interface FirstHit {
  readonly confidence: number;
  readonly right: boolean;
}

const BINS = 10;
const RESAMPLES = 200;

/**
 * Expected calibration error over ten bins of equal count (Guo et al. 2017, arXiv:1706.04599), with its 90 % bootstrap interval, and
 * the error that true confidences would have by chance.
 */
export function calibrationError(hits: readonly FirstHit[]) {
  let state = 1;
  const random = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const resampled = Array.from({ length: RESAMPLES }, () =>
    errorOf(hits.map(() => hits[Math.floor(random() * hits.length)]!)),
  ).sort((a, b) => a - b);
  // What chance alone makes of true confidences: bins are small.
  const byChance = Array.from({ length: RESAMPLES }, () =>
    errorOf(hits.map(({ confidence }) => ({ confidence, right: random() < confidence }))),
  );
  const chance = rounded(byChance.reduce((sum, error) => sum + error, 0) / RESAMPLES);
  const at = (share: number) => rounded(resampled[Math.floor(share * RESAMPLES)] ?? 0);
  return { ece: rounded(errorOf(hits)), low: at(0.05), high: at(0.95), chance };
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

/** Share of right first hits that are to be told as answers. */
const RIGHT_ABOVE = 0.9;

/** First hits of queries that one place answers, of several kinds, and one threshold for all. */
export class Thresholds {
  readonly #right = new Map<string, number[]>();
  readonly #unanswerable = new Map<string, number[]>();

  /** @param nothing queries without an answer that found nothing at all */
  add(kind: string, answerable: readonly FirstHit[], unanswerable: readonly FirstHit[], nothing = 0): void {
    const right = answerable.filter((hit) => hit.right).map(({ confidence }) => confidence);
    const others = [...unanswerable.map(({ confidence }) => confidence), ...Array<number>(nothing).fill(0)];
    this.#right.set(kind, [...(this.#right.get(kind) ?? []), ...right]);
    this.#unanswerable.set(kind, [...(this.#unanswerable.get(kind) ?? []), ...others]);
  }

  /**
   * The confidence over which nine in ten of the right stand, and for each kind what stands over and under it; and the same for the
   * confidence from which on an answer says that it is one.
   */
  figures(answeredMin: number) {
    const right = [...this.#right.values()].flat().sort((a, b) => a - b);
    const threshold = right[Math.floor(right.length * (1 - RIGHT_ABOVE))] ?? 0;
    return { ...this.#sharesAt(threshold), answered: this.#sharesAt(answeredMin) };
  }

  #sharesAt(threshold: number) {
    const below = (values: readonly number[] = []) =>
      rounded(values.filter((value) => value < threshold).length / Math.max(1, values.length));
    const all = (of: ReadonlyMap<string, readonly number[]>) => [...of.values()].flat();
    const of = (kind: string) => ({
      right_above: rounded(1 - below(this.#right.get(kind))),
      unanswerable_below: below(this.#unanswerable.get(kind)),
    });
    return {
      threshold: rounded(threshold),
      right_above: rounded(1 - below(all(this.#right))),
      unanswerable_below: below(all(this.#unanswerable)),
      kinds: Object.fromEntries([...this.#right.keys()].map((kind) => [kind, of(kind)])),
    };
  }
}

export const rounded = (value: number): number => Math.round(value * 1000) / 1000;
