import type { Job } from '../job.ts';
import type { IngestAnswer, Item, PublicJob } from './items.ts';

/** Items and jobs as answers show them. */

/**
 * An Item as it is shown. Extensions and later uploads of a payer move its end, so the record's own end may be outdated.
 * @param expiresAt RFC 3339; null when its Tenant has ended
 */
export function shownItem(item: Item, expiresAt: string | null): Item {
  return { ...item, expires_at: expiresAt ?? item.expires_at };
}

/** A job as its owner sees it: no tenant, no file name, no content. */
export function shownJob({
  id,
  item,
  state,
  progress,
  segments,
  created_at,
  updated_at,
  time_left_s,
  not_read,
  error,
}: Job): PublicJob {
  return {
    id,
    item,
    state,
    progress,
    segments,
    ...(time_left_s !== undefined && { time_left_s }),
    created_at,
    updated_at,
    ...(not_read && { not_read }),
    ...(error && { error }),
  };
}

/** The answer to an ingest; without the item when its index has ended. */
export function shownIngest(
  { item, job, duplicate }: { readonly item?: Item; readonly job: Job; readonly duplicate?: boolean },
  charged: boolean,
  expiresAt: string | null,
): IngestAnswer {
  return {
    ...(item && { item: shownItem(item, expiresAt) }),
    job_id: job.id,
    job: shownJob(job),
    ...(duplicate && { duplicate }),
    charged,
  };
}
