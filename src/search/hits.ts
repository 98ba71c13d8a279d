import type { Hit } from '../api/search.ts';
import type { Snapshot } from '../shard/snapshot.ts';
import type { FusedPlace } from './fuse.ts';
import { momentsOf } from './moments.ts';

/** Reads what the hits of an answer show. What is stored of a Segment for hits is shown as it is. */
export function hitsOf(snapshot: Snapshot, fused: readonly FusedPlace[], query: string | undefined): Hit[] {
  const { records, items } = snapshot.hits(
    Uint32Array.from(fused, ({ segment }) => segment),
    query,
  );
  const moments = momentsOf(
    snapshot,
    fused,
    records.map((record) => record?.locator),
  );
  const hits: Hit[] = [];
  for (const [index, { family, score, confidence, segments, explanation }] of fused.entries()) {
    const record = records[index];
    const item = record && items[record.item];
    if (!item) continue;
    const { item: _, place: __, ...shown } = record;
    hits.push({
      item,
      confidence,
      family,
      score,
      ...shown,
      ...(shown.snippet !== undefined && { text_source: shown.text_source ?? 'native' }),
      ...(moments[index] && { moments: moments[index] }),
      segments,
      ...(explanation && { explanation }),
    });
  }
  return hits;
}
