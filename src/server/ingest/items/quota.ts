import type { FileInfo } from '@farthing/protocol/document';
import { FarthingError } from '@farthing/protocol/error';
import { itemOfJob, type JobId } from '@farthing/protocol/id';
import type { IngestLimits } from '../ports/limits.ts';
import type { IngestShard } from '../ports/ports.ts';

/** A job that waits, runs, or awaits payment. `info` is absent for a job from before a restart. */
export interface Unfinished {
  readonly id: JobId;
  readonly info: FileInfo | undefined;
}

/** Items, and bytes of their files. */
export interface Load {
  readonly items: number;
  readonly bytes: number;
}

/** Load of a file with the files inside it. */
export function loadOf(bytes: number, { members = 0, membersBytes = 0 }: Partial<FileInfo>): Load {
  return { items: 1 + members, bytes: bytes + membersBytes };
}

/**
 * Load that unfinished jobs will add. Files of an archive that are already searchable count twice until its job ends.
 * Archives inside archives count once they are opened.
 */
export function loadOfUnfinished(shard: IngestShard, jobs: readonly Unfinished[]): Load {
  let [items, bytes] = [0, 0];
  for (const { id, info } of jobs) {
    const item = shard.item(itemOfJob(id));
    const load = loadOf(item?.state === 'pending' ? item.bytes : 0, info ?? { members: item?.members });
    items += load.items;
    bytes += load.bytes;
  }
  return { items, bytes };
}

/**
 * Checks that a Tenant's index may take `more`. A file's segments are not known before it is read: an index below its limit
 * takes all of them.
 * @param waiting load of the Tenant's unfinished jobs
 * @throws tenant_full
 */
export function checkQuota(
  { itemsPerTenantMax, bytesPerTenantMax, segmentsPerTenantMax }: IngestLimits,
  shard: IngestShard,
  more: Load,
  waiting: Load = { items: 0, bytes: 0 },
): void {
  const snapshot = shard.snapshot();
  try {
    const { segments, ...searchable } = snapshot.counts();
    const items = searchable.items + waiting.items;
    const bytes = searchable.bytes + waiting.bytes;
    const isWithin = items + more.items <= itemsPerTenantMax && bytes + more.bytes <= bytesPerTenantMax;
    if (isWithin && segments < segmentsPerTenantMax) return;
    throw new FarthingError(
      'tenant_full',
      `An index takes at most ${itemsPerTenantMax} items, ${segmentsPerTenantMax} segments and ${bytesPerTenantMax} bytes.`,
      {
        facts: {
          items,
          segments,
          bytes,
          limit_items: itemsPerTenantMax,
          limit_segments: segmentsPerTenantMax,
          limit_bytes: bytesPerTenantMax,
        },
      },
    );
  } finally {
    snapshot.close();
  }
}
