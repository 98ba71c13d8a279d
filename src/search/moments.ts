import type { Locator, Moment } from '../api/search.ts';
import type { Snapshot } from '../shard/snapshot.ts';
import type { FusedPlace } from './fuse.ts';

/** Moments beside the best one that a hit shows. */
const MOMENTS_MAX = 10;

/** The other moments of each hit, best first. Of those that overlap, a frame and what is said in it, the best is shown. */
export function momentsOf(
  snapshot: Pick<Snapshot, 'records'>,
  fused: readonly FusedPlace[],
): (Moment[] | undefined)[] {
  const films = fused.filter(({ moments }) => moments.length > 0);
  if (films.length === 0) return [];
  const segments = films.flatMap(({ segment, moments }) => [segment, ...moments.map((one) => one.segment)]);
  const records = snapshot.records(Uint32Array.from(segments)).values();
  return fused.map(({ moments }) => {
    if (moments.length === 0) return undefined;
    const shown: Moment[] = [];
    const taken: Stretch[] = [records.next().value?.locator ?? {}];
    for (const { confidence } of moments) {
      const { time_s, time_end_s } = records.next().value?.locator ?? {};
      if (time_s === undefined || shown.length === MOMENTS_MAX) continue;
      if (taken.some((other) => overlaps(other, { time_s, time_end_s }))) continue;
      taken.push({ time_s, time_end_s });
      shown.push({ time_s, ...(time_end_s !== undefined && { time_end_s }), confidence });
    }
    return shown.length > 0 ? shown : undefined;
  });
}

type Stretch = Pick<Locator, 'time_s' | 'time_end_s'>;

function overlaps(one: Stretch, other: Stretch): boolean {
  if (one.time_s === undefined || other.time_s === undefined) return false;
  const [before, after] = one.time_s <= other.time_s ? [one, other] : [other, one];
  return after.time_s! < (before.time_end_s ?? before.time_s!) || after.time_s === before.time_s;
}
