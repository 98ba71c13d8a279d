import { type Family, LISTS } from '@farthing/protocol/family';
import type { Bound, ListScan, SearchAnswer } from '@farthing/protocol/schema/search';
import type { ListVector, Searched } from '../shard/snapshot.ts';
import type { ServedList } from './lists.ts';
import type { UnprovedList } from './recall-probe.ts';

/** How the lists of an answer were scanned. */
export function scansOf(plan: readonly ServedList[], { lists, corrected }: Searched): ListScan[] {
  return plan.map(({ name, traits }, at) => {
    const slips = traits.scans === 'words' && corrected !== undefined && { corrected };
    return { list: name, ...slips, ...lists[at]! };
  });
}

/** The lists that were not proved, with their queries: only vectors have a quicker way. */
export function unprovedLists(
  scans: readonly ListScan[],
  vectors: readonly ListVector[],
  depth: number,
): UnprovedList[] {
  return vectors.flatMap(({ list: at, space, vector }) => {
    const { list, exact, method } = scans[at]!;
    return exact ? [] : { list, method, query: { space, vector }, depth };
  });
}

/** A family's result is proved exact when each of its lists is. */
export function boundsOf(scans: readonly ListScan[]): SearchAnswer['bounds'] {
  const bounds: Partial<Record<Family, Bound>> = {};
  for (const { list, exact, recall = 1 } of scans) {
    const { family } = LISTS[list];
    if (!exact) bounds[family] = { exact, recall: Math.min(recall, bounds[family]?.recall ?? 1) };
    else bounds[family] ??= { exact };
  }
  return bounds;
}
