import type { FileInfo } from '../../domain/document.ts';
import { FarthingError } from '../../domain/error.ts';
import { itemOfJob, type JobId } from '../../domain/id.ts';
import type { IngestLimits, IngestShard } from '../ports/ports.ts';

/** A job that waits, runs, or is being paid for. `opened` is what is known of its file, unless it began before a restart. */
export interface Unfinished {
  readonly id: JobId;
  readonly opened: FileInfo | undefined;
}

/** Items and bytes of files. */
export interface Load {
  readonly items: number;
  readonly bytes: number;
}

/** What comes of a file with those inside it. */
export function loadOf(bytes: number, { members = 0, membersBytes = 0 }: Partial<FileInfo>): Load {
  return { items: 1 + members, bytes: bytes + membersBytes };
}

/**
 * What jobs that have not ended will add. The files of an archive that are searchable already count twice until its job ends; archives in
 * archives are known when they are opened.
 */
export function loadOfUnfinished(shard: IngestShard, jobs: readonly Unfinished[]): Load {
  let [items, bytes] = [0, 0];
  for (const { id, opened } of jobs) {
    const item = shard.item(itemOfJob(id));
    const load = loadOf(item?.state === 'pending' ? item.bytes : 0, opened ?? { members: item?.members });
    items += load.items;
    bytes += load.bytes;
  }
  return { items, bytes };
}

/**
 * Segments are not known before a file is read: an index that has room for one more takes all of a file's.
 * @param waiting what will be there beside what is searchable
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
