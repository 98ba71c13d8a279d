import type { BenchHit } from './agent.ts';

/** Whether confidences are true: of hits that say .7, seven in ten should be relevant. */
export interface Reliable {
  readonly set: string;
  readonly list: string;
  /** Mean of |confidence − share of relevant| over bins of equal width, weighted by their hits (Guo et al. 2017, arXiv:1706.04599). */
  readonly ece: number;
  readonly bins: readonly {
    readonly confidence: number;
    readonly relevant: number;
    readonly pairs: number;
  }[];
}

const BINS = 10;

/** Collects the hits that an agent looks at, and tells how true their confidences were. */
export class Reliability {
  readonly #bins = Array.from({ length: BINS }, () => ({ sum: 0, relevant: 0, pairs: 0 }));

  add(hits: readonly BenchHit[], isRelevant: (hit: BenchHit) => boolean): void {
    for (const hit of hits) {
      const bin = this.#bins[Math.min(BINS - 1, Math.floor(hit.confidence * BINS))]!;
      bin.sum += hit.confidence;
      bin.relevant += Number(isRelevant(hit));
      bin.pairs += 1;
    }
  }

  of(set: string, list: string): Reliable {
    const filled = this.#bins.filter(({ pairs }) => pairs > 0);
    const pairs = filled.reduce((sum, bin) => sum + bin.pairs, 0);
    const error = filled.reduce((sum, bin) => sum + Math.abs(bin.sum - bin.relevant), 0);
    return {
      set,
      list,
      ece: rounded(error / Math.max(1, pairs)),
      bins: filled.map((bin) => ({
        confidence: rounded(bin.sum / bin.pairs),
        relevant: rounded(bin.relevant / bin.pairs),
        pairs: bin.pairs,
      })),
    };
  }
}

const rounded = (value: number) => Math.round(value * 1000) / 1000;

/** For a record: the errors by set and list, and for a curve the share of relevant hits by their mean confidence. */
export function reliabilityOf(all: readonly Reliable[]) {
  const named = (of: (one: Reliable) => unknown) =>
    Object.fromEntries(all.map((one) => [`${one.set} ${one.list}`, of(one)]));
  return {
    calibration_error: named(({ ece }) => ece),
    reliability: named(({ bins }) =>
      Object.fromEntries(bins.map(({ confidence, relevant }) => [confidence.toFixed(3), relevant])),
    ),
  };
}
