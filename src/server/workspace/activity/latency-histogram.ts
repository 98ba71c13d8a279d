import { roundedMs } from '@farthing/protocol/clock';
import type { UsageAnswer } from '@farthing/protocol/schema/workspaces';

/** Upper edge of the first bucket in milliseconds, buckets per doubling, and number of buckets: up to two minutes. */
const FIRST_MS = 0.0625;
const PER_DOUBLING = 8;
const BUCKETS = 168;

/** Non-empty buckets, each with its count. */
export type BucketCounts = readonly (readonly [bucket: number, count: number])[];

/** Latencies counted in buckets that grow by 2^(1/8): percentiles are exact to within 9 %. */
export class LatencyHistogram {
  readonly #counts = new Uint32Array(BUCKETS);
  #total = 0;
  #max = 0;

  constructor(counts: BucketCounts = [], max = 0) {
    for (const [bucket, count] of counts) {
      this.#counts[bucket] = count;
      this.#total += count;
    }
    this.#max = max;
  }

  add(milliseconds: number): void {
    const bucket = Math.ceil(Math.log2(Math.max(milliseconds, FIRST_MS) / FIRST_MS) * PER_DOUBLING);
    this.#counts[Math.min(bucket, BUCKETS - 1)]! += 1;
    this.#total += 1;
    this.#max = Math.max(this.#max, milliseconds);
  }

  get max(): number {
    return this.#max;
  }

  /** For storage: the buckets that are not empty. */
  buckets(): BucketCounts {
    return Array.from(this.#counts, (count, bucket) => [bucket, count] as const).filter(
      ([, count]) => count > 0,
    );
  }

  /** In milliseconds; null before the first search. */
  percentiles(): UsageAnswer['latency_ms'] {
    if (this.#total === 0) return { p50: null, p90: null, p99: null, max: null };
    return { p50: this.#at(0.5), p90: this.#at(0.9), p99: this.#at(0.99), max: roundedMs(this.#max) };
  }

  /** Upper edge of the bucket with the nearest rank, but never above the largest value. */
  #at(share: number): number {
    const rank = Math.max(1, Math.ceil(share * this.#total));
    let bucket = 0;
    for (let seen = this.#counts[0]!; seen < rank; seen += this.#counts[bucket]!) bucket += 1;
    return roundedMs(Math.min(this.#max, FIRST_MS * 2 ** (bucket / PER_DOUBLING)));
  }
}
