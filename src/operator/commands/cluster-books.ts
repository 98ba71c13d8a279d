import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { LogDamagedError } from '../../cluster/chain.ts';
import type { Etcd } from '../../cluster/etcd.ts';
import { GroupCommit } from '../../cluster/group-commit.ts';
import { clusterName, namedEtcd } from '../../cluster/named-stores.ts';
import { SlotLog } from '../../cluster/slot-log.ts';
import { prefixOf, readClusterConfig } from '../../cluster/slot-logs.ts';
import { applyEntries } from '../../state/recorded-store.ts';
import { claimSlotFolders } from '../../state/slots.ts';
import { openStore } from '../../state/store.ts';
import { finishDraft, newDraft } from '../backup/data-copy.ts';
import { type CommandIo, EXIT, settingsOf, UsageError } from './io.ts';

/** A server shortens its log while it is read: then it is read again. */
const TRIES_MAX = 5;
/** Nobody's claim: what is opened with it can be read alone. */
const NO_CLAIM = -1;

/**
 * Copies the books of a cluster out of its logs, while its servers run, into a folder that the commands for a stopped server read: each slot
 * as it is at one moment. No file and no index comes with them. @throws UsageError, Error with what to do
 */
export async function copyClusterBooks(folder: string, io: CommandIo): Promise<number> {
  const settings = settingsOf(io);
  if (settings.CLUSTER === '') throw new UsageError('Set FARTHING_CLUSTER: it names the cluster.');
  const cluster = clusterName(settings);
  const target = resolve(folder);
  const etcd = await namedEtcd(settings);
  try {
    const config = await readClusterConfig(etcd, cluster);
    if (!config) throw new Error(`The cluster ${cluster} has no books yet: start a server with it.`);
    const draft = await newDraft(resolve(settings.DATA_DIR), target);
    try {
      for (const [slot, slotFolder] of (await claimSlotFolders(draft, config.slots)).entries()) {
        io.progress?.(`slot ${slot + 1} of ${config.slots}`);
        await copySlot(etcd, { cluster, slot, folder: join(slotFolder, 'state') });
      }
      await finishDraft(draft, target);
    } catch (error) {
      await rm(draft, { recursive: true, force: true });
      throw error;
    }
  } finally {
    etcd.close();
  }
  io.write(
    `${target} has the books of ${cluster}. Read them with FARTHING_DATA_DIR=${target} farthing admin ledger export.\n`,
  );
  return EXIT.done;
}

async function copySlot(
  kv: Etcd,
  { cluster, slot, folder }: { readonly cluster: string; readonly slot: number; readonly folder: string },
): Promise<void> {
  for (let tries = 1; ; tries++) {
    const prefix = prefixOf(cluster);
    const fence = { key: `${prefix}owner/${slot}`, revision: NO_CLAIM };
    const onLost = () => undefined;
    const log = new SlotLog({ kv, prefix, slot, fence, commits: new GroupCommit({ kv }), onLost });
    const store = openStore(folder);
    try {
      const { entries } = await log.open(undefined);
      for await (const entry of entries) await applyEntries(store, [entry]);
      return;
    } catch (error) {
      if (!(error instanceof LogDamagedError) || tries === TRIES_MAX) throw error;
    } finally {
      await store.close();
    }
    await rm(folder, { recursive: true });
  }
}
