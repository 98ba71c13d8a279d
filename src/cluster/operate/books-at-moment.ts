import { rm } from 'node:fs/promises';
import { openStore } from '@farthing/server/state/store';
import { applyEntries } from '../log/recorded-store.ts';
import { SlotLog } from '../log/slot-log.ts';
import { prefixOf } from '../log/slot-logs.ts';
import type { Etcd } from '../stores/etcd.ts';
import { GroupCommit } from '../stores/group-commit.ts';
import { type Kv, MomentOverError } from '../stores/kv.ts';

/** The cluster whose stores are to be copied. */
export interface BooksToCopy {
  readonly etcd: Etcd;
  /** Name of the cluster. */
  readonly cluster: string;
  /** Absolute paths of the folders that the slots' states are to have, by slot; none exists. */
  readonly states: ReadonlyMap<number, string>;
  /** Called with each slot before it is copied. */
  readonly onSlot?: (slot: number) => void;
  readonly signal?: AbortSignal;
}

/** etcd compacts a moment away after minutes: then the copy starts over, with a later one. */
const TRIES_MAX = 5;
/** No process's claim: logs opened with it are read-only. */
const NO_CLAIM = -1;

/**
 * Copies a cluster's stores from its logs, whether its servers run or not: all slots as they are at one revision of etcd, as after a loss
 * of all servers at that moment.
 * @throws LogDamagedError with the position; MomentOverError
 */
export async function copyBooksAtMoment(books: BooksToCopy): Promise<void> {
  const { etcd, cluster, states, onSlot, signal } = books;
  for (let tries = 1; ; tries++) {
    const moment = await etcd.moment(prefixOf(cluster));
    try {
      for (const [slot, folder] of states) {
        signal?.throwIfAborted();
        onSlot?.(slot);
        await copySlot(moment, { cluster, slot, folder });
      }
      return;
    } catch (error) {
      if (!(error instanceof MomentOverError) || tries === TRIES_MAX) throw error;
      for (const folder of states.values()) await rm(folder, { recursive: true, force: true });
    }
  }
}

async function copySlot(
  moment: Kv,
  { cluster, slot, folder }: { readonly cluster: string; readonly slot: number; readonly folder: string },
): Promise<void> {
  const prefix = prefixOf(cluster);
  const log = new SlotLog({
    kv: moment,
    prefix,
    slot,
    fence: { key: `${prefix}owner/${slot}`, revision: NO_CLAIM },
    commits: new GroupCommit({ kv: moment }),
    onLost: () => undefined,
  });
  // The finished copy is synced to the disk as a whole.
  const store = openStore(folder, { durable: false });
  try {
    const { entries } = await log.open(undefined);
    for await (const entry of entries) await applyEntries(store, [entry]);
  } finally {
    await store.close();
  }
}
