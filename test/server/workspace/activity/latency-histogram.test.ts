import t from 'tap';
import { LatencyHistogram } from '../../../../src/server/workspace/activity/latency-histogram.ts';

t.test('percentiles of any sample lie within 9 % over the nearest rank', async (t) => {
  for (const size of [1, 2, 10, 999, 20_000]) {
    const sample = Array.from({ length: size }, (_, index) => 0.1 + ((index * 7919) % size) ** 1.5 / 10);
    const histogram = new LatencyHistogram();
    for (const value of sample) histogram.add(value);
    const sorted = sample.toSorted((a, b) => a - b);
    const { p50, p90, p99, max } = histogram.percentiles();
    for (const [share, estimate] of [
      [0.5, p50],
      [0.9, p90],
      [0.99, p99],
    ] as const) {
      const exact = sorted[Math.max(1, Math.ceil(share * size)) - 1]!;
      const clamped = Math.min(exact, 119_000);
      t.ok(
        estimate! >= clamped * 0.999 - 0.001 && estimate! <= exact * 1.091 + 0.001,
        `${share} of ${size}: ${estimate} for ${exact}`,
      );
    }
    t.ok(Math.abs(max! - sorted.at(-1)!) < 0.001);
  }
});
