import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Shard } from '@farthing/engine/shard/shard';
import { type Clock, HOUR_MS } from '@farthing/protocol/clock';
import { type ItemId, jobOfItem } from '@farthing/protocol/id';
import type { Item } from '@farthing/protocol/schema/items';
import { fileOf } from '../../ingest/items/files.ts';
import { JobTable } from '../../ingest/jobs/job-table.ts';
import { uploadedItem } from '../../ingest/members/members.ts';
import { INGEST_LIMITS } from '../../ingest/ports/limits.ts';
import type { Store } from '../../state/store.ts';

const PAGE = 1000;

/** A copied state knows an Item by its job, or the Item is so old that the job's row was dropped. @param takenAt when the state was copied */
export function knownIn(copy: Store, clock: Clock, takenAt: number): (item: Item) => boolean {
  const jobs = new JobTable(copy, clock);
  const oldest = takenAt - INGEST_LIMITS.jobKeepHours * HOUR_MS;
  return (item) => jobs.get(jobOfItem(item.id)) !== undefined || Date.parse(item.created_at) < oldest;
}

export interface CopyParts {
  /** Absolute path of the Tenant's folder in the backup. */
  readonly folder: string;
  /** Brings an Item's file to a path. False when there is none. */
  readonly bring: (item: Item, path: string) => Promise<boolean>;
  readonly known: (item: Item) => boolean;
}

/** Brings the file of each Item in a copied index. Removes an Item that is unknown or whose file has just been removed. */
export async function completeCopy(shard: Shard, { folder, bring, known }: CopyParts): Promise<void> {
  const without: ItemId[] = [];
  await mkdir(join(folder, 'files'), { mode: 0o700 });
  for (let after: string | undefined; ; ) {
    const items = shard.items({ after, limit: PAGE });
    for (const item of items) {
      // A failed Item has no file.
      const whole = item.state === 'failed' || (await bring(item, fileOf(folder, item.id)));
      const uploaded = uploadedItem(shard, item);
      if (!whole || !uploaded || !known(uploaded)) without.push(item.id);
    }
    if (items.length < PAGE) break;
    after = items.at(-1)!.id;
  }
  for (const id of without) {
    await rm(fileOf(folder, id), { force: true });
    await shard.removeItem(id);
  }
}
