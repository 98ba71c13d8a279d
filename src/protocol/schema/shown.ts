import type { Job } from '../job.ts';
import { type IngestAnswer, type Item, JobSchema, type PublicJob } from './items.ts';

/** Items and jobs as answers show them. */

/**
 * An Item as it is shown. Extensions and later uploads of a payer move its end, so the record's own end may be outdated.
 * @param expiresAt RFC 3339; null when its Tenant has ended
 */
export function shownItem(item: Item, expiresAt: string | null): Item {
  return { ...item, expires_at: expiresAt ?? item.expires_at };
}

/** A job as its owner sees it: what its schema has. No tenant, no file name, no content. */
export function shownJob(job: Job): PublicJob {
  const given: Readonly<Record<string, unknown>> = { ...job };
  const names = Object.keys(JobSchema.properties).filter((name) => given[name] !== undefined);
  return Object.fromEntries(names.map((name) => [name, given[name]])) as unknown as PublicJob;
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
