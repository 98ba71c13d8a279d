import type { JsonArray } from '../domain/json-array.ts';
import type { HitsOptions, Snapshot } from '../shard/snapshot.ts';
import type { FusedPlace } from './fuse.ts';
import { momentsOf } from './moments.ts';

/** The hits of an answer, as JSON. What is stored of Items and Segments is shown as it is; only times of moments are read here. */
export function hitsOf(snapshot: Snapshot, fused: readonly FusedPlace[], options: HitsOptions): JsonArray {
  const moments = momentsOf(snapshot, fused);
  const shown = fused.map(({ segment, family, score, confidence, segments, explanation }, at) => ({
    segment,
    before: `"confidence":${confidence},"family":"${family}","score":${score}`,
    after:
      moments[at] || explanation
        ? JSON.stringify({ moments: moments[at], segments, explanation }).slice(1, -1)
        : `"segments":${segments}`,
  }));
  return snapshot.hits(shown, options);
}
