import type { JsonArray } from '../domain/json-array.ts';
import type { HitsOptions, Snapshot } from '../shard/snapshot.ts';
import type { FusedPlace } from './fuse.ts';

/** The hits of an answer, as JSON. What is stored of Items and Segments is shown as it is, and never parsed here. */
export function hitsOf(snapshot: Snapshot, fused: readonly FusedPlace[], options: HitsOptions): JsonArray {
  const shown = fused.map(({ segment, family, score, confidence, segments, explanation }) => ({
    segment,
    before: { confidence, family, score },
    after: { segments, explanation },
  }));
  return snapshot.hits(shown, options);
}
