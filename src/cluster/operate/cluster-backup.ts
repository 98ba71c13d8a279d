import { statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { systemClock } from '@farthing/protocol/clock';
import { inDraft } from '@farthing/server/operator/backup/data-copy';
import { claimBookFolders } from '@farthing/server/state/book-folders';
import { checkDataVersion } from '@farthing/server/state/data-version';
import { keepKeysIn } from '@farthing/server/workspace/disposal/receipt-keys';
import { BACKUP_ROWS } from '../members/node-rows.ts';
import { receiptKeysRow } from '../stores/sealed-row.ts';
import { copyBooksAtMoment } from './books-at-moment.ts';
import { type ClusterBackup, SlotFromObjects } from './slot-from-objects.ts';

/** Slots whose Tenants are fetched at once. */
const SLOTS_AT_ONCE = 4;
const MEBIBYTE = 2 ** 20;

/**
 * Makes a data folder from a cluster's etcd and object store, whether its servers run or not. First come the stores of all slots as they
 * are at one moment, then each of their Tenants as it is when its turn comes; Items unknown to those stores are removed, and so are Tenants
 * that ended during the copy. A start repairs the rest, as after a crash.
 * @param data absolute path of a folder in which the backup must not lie
 * @param target absolute path, which must not exist; it appears when it is complete and on the disk
 * @returns how many Tenants are in it
 * @throws Error with what to do; FarthingError shard_corrupt, objects_unavailable
 */
export function backUpCluster(backup: ClusterBackup, data: string, target: string): Promise<number> {
  return inDraft(data, target, async (draft) => {
    const tenants = await fill(draft, backup);
    backup.signal?.throwIfAborted();
    return tenants;
  });
}

async function fill(draft: string, backup: ClusterBackup): Promise<number> {
  const { etcd, cluster, clusterKeys, slots, progress, signal, freeBytes = freeBytesFor } = backup;
  const takenAt = Date.now();
  // Written before anything is copied: every receipt from here on mentions it.
  const value = BACKUP_ROWS.format({ at: takenAt });
  await etcd.commit({ when: [], puts: [{ key: BACKUP_ROWS.key(cluster, 'last'), value }] });
  await checkDataVersion(draft);
  const keys = await receiptKeysRow(etcd, cluster, clusterKeys).read();
  if (keys) await keepKeysIn(join(draft, 'keys'), keys.text);
  const folders = await claimBookFolders(draft, slots);
  await copyBooksAtMoment({
    etcd,
    cluster,
    states: new Map(folders.map((folder, slot) => [slot, join(folder, 'state')])),
    onSlot: (slot) => progress?.(`books of slot ${slot + 1} of ${slots}`),
    ...(signal && { signal }),
  });
  const copies = folders.map(
    (folder, slot) =>
      new SlotFromObjects({
        ...backup,
        slot,
        folder,
        later: join(draft, `later-${slot}`),
        takenAt,
        clock: systemClock,
      }),
  );
  try {
    const needed = copies.reduce((sum, copy) => sum + copy.bytes(), 0);
    mustFit(draft, needed, await freeBytes(draft));
    let done = 0;
    const onTenant = (tenant: string) => {
      done += 1;
      progress?.(`tenant ${done}: ${tenant}`);
    };
    const left = copies.values();
    const next = async () => {
      for (const copy of left) await copy.fill(onTenant);
    };
    const ended = await Promise.allSettled(Array.from({ length: SLOTS_AT_ONCE }, next));
    const failed = ended.find((end) => end.status === 'rejected');
    if (failed) throw failed.reason;
    return copies.reduce((sum, { tenants }) => sum + tenants, 0);
  } finally {
    await Promise.all(copies.map((copy) => copy.close()));
  }
}

function mustFit(draft: string, bytes: number, free: number): void {
  if (bytes <= free) return;
  const inMebibytes = (count: number) => `${Math.ceil(count / MEBIBYTE)} MiB`;
  throw new Error(
    `${dirname(draft)} has ${inMebibytes(free)} free, and the backup needs about ${inMebibytes(bytes)}: name a folder on a larger disk.`,
  );
}

async function freeBytesFor(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}
