import t from 'tap';
import type { Locator, SegmentRecord } from '../../src/api/search.ts';
import { momentsOf } from '../../src/search/moments.ts';

const at = (time_s: number, time_end_s?: number): Locator => ({
  time_s,
  ...(time_end_s !== undefined && { time_end_s }),
});

/** The moments of one hit: `stored` are those that were found, best first. */
function moments(best: Locator, stored: readonly Locator[]) {
  const records = (segments: Uint32Array) =>
    [...segments].map(
      (segment) => ({ item: 'film', place: 1, locator: stored[segment] ?? best }) as SegmentRecord,
    );
  const found = stored.map((_, segment) => ({ segment, confidence: 0.5 - segment / 100 }));
  const hit = {
    segment: 99,
    family: 'visual',
    score: 0,
    confidence: 0.9,
    segments: 1,
    moments: found,
  } as const;
  return momentsOf({ records }, [hit])[0];
}

t.test('moments have times and confidence, and the best of those that overlap is shown', async (t) => {
  t.same(moments(at(10, 20), [at(12, 14), at(20, 30), at(25, 28), at(0, 11), at(0, 10), at(40)]), [
    { time_s: 20, time_end_s: 30, confidence: 0.49 },
    { time_s: 0, time_end_s: 10, confidence: 0.46 },
    { time_s: 40, confidence: 0.45 },
  ]);
  t.equal(moments(at(10, 20), [at(10, 12), at(15)]), undefined);
});

t.test('tags of a film have no time, and take none from its moments', async (t) => {
  t.same(moments({}, [at(3, 5), {}]), [{ time_s: 3, time_end_s: 5, confidence: 0.5 }]);
});

t.test('at most ten are shown', async (t) => {
  const many = Array.from({ length: 30 }, (_, index) => at(index * 10, index * 10 + 5));
  t.equal(moments(at(1000), many)!.length, 10);
});
