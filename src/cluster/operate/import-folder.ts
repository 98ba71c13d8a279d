import { open, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { UsageError } from '@farthing/cli/commands/command-set';
import { rootCause } from '@farthing/protocol/error';
import { whileStopped } from '@farthing/server/operator/backup/stopped-backup';
import { type CommandIo, EXIT, settingsOf } from '@farthing/server/operator/io';
import type { Settings } from '@farthing/server/settings/settings';
import { bookFolders } from '@farthing/server/state/book-folders';
import { folderMoney, moneyFault, moneyOf } from '@farthing/server/state/folder-money';
import { forgetLog, keepPosition } from '@farthing/server/state/log-position';
import { openStore, type RawStore } from '@farthing/server/state/store';
import { openReceiptSigner } from '@farthing/server/workspace/disposal/receipt';
import { houseTable } from '@farthing/server/workspace/house/house-table';
import { markBooks } from '../content/books-with-objects.ts';
import { type Content, contentOf } from '../content/content.ts';
import { ContentIndexKeeper } from '../content/index-keeper.ts';
import { entriesOf } from '../log/recorded-store.ts';
import { ENTRY_BYTES_MAX } from '../log/slot-log.ts';
import { openSlotLogs } from '../log/slot-logs.ts';
import { ClaimError } from '../members/slot-claims.ts';
import { AccessRefusedError, type Etcd } from '../stores/etcd.ts';
import { behind } from '../stores/kv.ts';
import { clusterName, namedClusterKeys, namedEtcd, namedObjects } from '../stores/named-stores.ts';
import type { Objects } from '../stores/objects/objects.ts';
import { receiptKeysRow } from '../stores/sealed-row.ts';

const PART_BYTES = ENTRY_BYTES_MAX / 2;

/**
 * Imports the data folder of a stopped server into the etcd and the object store of the settings: files and indexes first, then the stores,
 * which reference them. The folder is a copy of the cluster's from then on.
 * @throws UsageError, Error with what to do
 */
export async function importFolder(io: CommandIo): Promise<number> {
  const settings = settingsOf(io);
  if (settings.CLUSTER === '' || settings.OBJECTS === '')
    throw new UsageError('Set FARTHING_CLUSTER, FARTHING_OBJECTS and the cluster key: they name where to.');
  const data = resolve(settings.DATA_DIR);
  const fault = moneyFault(await folderMoney(data), moneyOf(settings));
  if (fault !== undefined) throw new Error(`FARTHING_DATA_DIR=${data}: ${fault}`);
  const etcd = await namedEtcd(settings);
  try {
    await mustBeNew(etcd, settings);
    const objects = await namedObjects(settings);
    await objects.check().catch((error: unknown) => {
      throw new Error(`FARTHING_OBJECTS: ${rootCause(error)}`);
    });
    const tenants = await whileStopped(data, () => importStopped(settings, data, { etcd, objects }, io));
    if (tenants === undefined)
      throw new Error(`FARTHING_DATA_DIR=${data}: a running server uses this folder; stop it first`);
    io.write(
      `${data} with ${tenants} tenants is in the cluster ${clusterName(settings)}. Start the server with the same settings.\n`,
    );
    return EXIT.done;
  } finally {
    etcd.close();
  }
}

async function mustBeNew(etcd: Etcd, settings: Settings): Promise<void> {
  const prefix = `/farthing/${clusterName(settings)}/`;
  const rows = await etcd.range(prefix, behind(prefix), 1).catch((error: unknown) => {
    throw new Error(`FARTHING_CLUSTER: ${rootCause(error)}`);
  });
  if (rows.length > 0)
    throw new Error(
      `FARTHING_CLUSTER: the cluster ${clusterName(settings)} has books already; take another name`,
    );
}

/** @returns how many tenants there are */
async function importStopped(
  settings: Settings,
  data: string,
  { etcd, objects }: { etcd: Etcd; objects: Objects },
  io: CommandIo,
): Promise<number> {
  const slots = await bookFolders(data);
  const states = slots.map((slot) => join(slot, 'state'));
  const stores = states.map((state) => openStore(state));
  try {
    for (const store of stores) mustHaveNoHouse(store);
    await Promise.all(stores.map((store, slot) => forgetLog(store, states[slot]!)));
    const tenants = await importContent(settings, { stores, slots, objects }, io);
    await importBooks(settings, stores, etcd);
    const shared = receiptKeysRow(etcd, clusterName(settings), await namedClusterKeys(settings));
    await openReceiptSigner(join(data, 'keys'), { shared });
    return tenants;
  } finally {
    await Promise.all(stores.map((store) => store.close()));
  }
}

/** Keys of the house are for a server alone: nothing would open its workspaces in a cluster. @throws Error with what to do */
function mustHaveNoHouse(store: RawStore): void {
  const count = houseTable(store).count();
  if (count > 0)
    throw new Error(
      `${count} workspaces of the house are here, and a cluster has none (docs/house.md): export what is needed, and dispose of them.`,
    );
}

async function importContent(
  settings: Settings,
  { stores, slots, objects }: { stores: readonly RawStore[]; slots: readonly string[]; objects: Objects },
  io: CommandIo,
): Promise<number> {
  const clusterKeys = await namedClusterKeys(settings);
  const content = contentOf(stores, { clusterKeys, objects, log: () => undefined });
  for (const store of stores) await markBooks(store);
  const keeper = new ContentIndexKeeper(content, []);
  let count = 0;
  for (const folder of slots.map((slot) => join(slot, 'tenants')))
    for (const tenant of await namesIn(folder)) {
      io.progress?.(`tenant ${count + 1}: ${tenant}`);
      await importTenant(content, keeper, tenant, join(folder, tenant));
      count += 1;
    }
  return count;
}

async function importTenant(
  content: Content,
  keeper: ContentIndexKeeper,
  tenant: string,
  folder: string,
): Promise<void> {
  for (const item of await namesIn(join(folder, 'files'))) {
    const file = await open(join(folder, 'files', item), 'r');
    try {
      await content.keepFile(tenant, item, file);
    } finally {
      await file.close();
    }
  }
  await keeper.keepClosed(tenant, folder);
}

/** Writes each log from its first entry on. A partial import leaves the cluster unusable. */
async function importBooks(settings: Settings, stores: readonly RawStore[], etcd: Etcd): Promise<void> {
  const options = { kv: etcd, cluster: clusterName(settings), node: settings.NODE_ID, slots: stores.length };
  const { money } = moneyOf(settings);
  const logs = await openSlotLogs({ ...options, money, onLost: () => undefined }).catch((error: unknown) => {
    if (!(error instanceof ClaimError || error instanceof AccessRefusedError)) throw error;
    throw new Error(`FARTHING_CLUSTER: ${error.message}`);
  });
  for (const [slot, store] of stores.entries()) {
    const log = logs[slot]!;
    for (const entry of entriesOf(store, PART_BYTES)) await log.append(entry).safe;
    await store.transaction(() => keepPosition(store, log.position));
  }
}

async function namesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => !name.startsWith('.'));
}
