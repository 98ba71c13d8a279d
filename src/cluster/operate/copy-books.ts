import { join, resolve } from 'node:path';
import { UsageError } from '@farthing/cli/commands/command-set';
import { rootCause } from '@farthing/protocol/error';
import { inDraft } from '@farthing/server/operator/backup/data-copy';
import { type CommandIo, EXIT, settingsOf } from '@farthing/server/operator/io';
import type { Settings } from '@farthing/server/settings/settings';
import { claimBookFolders } from '@farthing/server/state/book-folders';
import { type ClusterConfig, readClusterConfig } from '../members/cluster-config.ts';
import type { Etcd } from '../stores/etcd.ts';
import { clusterName, namedClusterKeys, namedObjects } from '../stores/named-stores.ts';
import { copyBooksAtMoment } from './books-at-moment.ts';
import { withEtcd } from './nodes.ts';

/**
 * Copies a cluster's stores from its logs, while its servers run, into a folder that the commands for a stopped server read: all slots as
 * they are at one moment. Files and indexes are not copied.
 * @throws UsageError, Error with what to do
 */
export async function copyClusterBooks(folder: string, io: CommandIo): Promise<number> {
  const settings = settingsOf(io);
  const target = resolve(folder);
  const cluster = clusterName(settings);
  await withCluster(settings, async (etcd, { slots }) => {
    const signal = io.interruption?.();
    await inDraft(resolve(settings.DATA_DIR), target, async (draft) => {
      const folders = await claimBookFolders(draft, slots);
      const states = new Map(folders.map((slot, number) => [number, join(slot, 'state')]));
      const onSlot = (slot: number) => io.progress?.(`slot ${slot + 1} of ${slots}`);
      await copyBooksAtMoment({ etcd, cluster, states, onSlot, ...(signal && { signal }) });
    });
  });
  io.write(
    `${target} has the books of ${cluster}. Read them with FARTHING_DATA_DIR=${target} farthing admin ledger export.\n`,
  );
  return EXIT.done;
}

/**
 * Backs up a cluster into a folder that a single server starts from. Its servers may run, and need not. @throws UsageError, Error with what
 * to do
 */
export async function backUpClusterTo(folder: string, io: CommandIo): Promise<number> {
  const settings = settingsOf(io);
  const target = resolve(folder);
  const { backUpCluster } = await import('./cluster-backup.ts');
  return withCluster(settings, async (etcd, { slots }) => {
    if (settings.OBJECTS === '')
      throw new UsageError('Set FARTHING_OBJECTS and the cluster key: files and indexes come from there.');
    const cluster = clusterName(settings);
    const signal = io.interruption?.();
    const tenants = await backUpCluster(
      {
        etcd,
        objects: await namedObjects(settings),
        clusterKeys: await namedClusterKeys(settings),
        cluster,
        slots,
        ...(io.progress && { progress: io.progress }),
        ...(signal && { signal }),
      },
      resolve(settings.DATA_DIR),
      target,
    );
    io.write(
      `${target} is a backup of ${cluster} with ${tenants} tenants. A single server starts from it with FARTHING_SLOTS=${slots}: farthing admin restore ${target}.\n`,
    );
    return EXIT.done;
  });
}

function withCluster<T>(
  settings: Settings,
  work: (etcd: Etcd, config: ClusterConfig) => Promise<T>,
): Promise<T> {
  return withEtcd(settings, async (etcd, cluster) => {
    const config = await readClusterConfig(etcd, cluster).catch((error: unknown) => {
      throw new Error(`FARTHING_CLUSTER: ${rootCause(error)}`);
    });
    if (!config) throw new Error(`The cluster ${cluster} has no books yet: start a server with it.`);
    return work(etcd, config);
  });
}
