import { readdir } from 'node:fs/promises';
import { unlinkTenant } from '@farthing/engine/shard/disposal';
import type { Tenants } from '@farthing/engine/shard/tenants';
import type { SpaceSpec } from '@farthing/engine/space';
import { rootCause } from '@farthing/protocol/error';
import { filesIn } from '@farthing/server/ingest/items/files';
import { ConfigError } from '@farthing/server/settings/config';
import type { Settings } from '@farthing/server/settings/settings';
import type { ContentKeeper } from '@farthing/server/wiring/process';
import { openReceiptSigner } from '@farthing/server/workspace/disposal/receipt';
import type { SlotStore } from '../log/recorded-store.ts';
import { BACKUP_ROWS } from '../members/node-rows.ts';
import { untilAnswered } from '../stores/kv.ts';
import { clusterName, namedClusterKeys, namedEtcd, namedObjects } from '../stores/named-stores.ts';
import { GuardedObjects, type ObjectsCall } from '../stores/objects/guarded-objects.ts';
import { UnsuitableStoreError } from '../stores/objects/objects.ts';
import { receiptKeysRow } from '../stores/sealed-row.ts';
import { forgetObjects } from './books-with-objects.ts';
import { Content } from './content.ts';
import { FollowedIndexes } from './followed-indexes.ts';
import { ContentIndexKeeper } from './index-keeper.ts';
import { KeptFiles } from './kept-files.ts';
import { ContentRows } from './rows.ts';

export interface KeptContentOptions {
  readonly settings: Settings;
  /** The slots' stores, in order, where this server has all of them. Empty: slots come and go. */
  readonly stores: readonly SlotStore[];
  /** Absolute paths of the slots' folders of Tenants, in order. */
  readonly tenantsFolders: readonly string[];
  /** Absolute path of the folder with the keys that sign receipts. */
  readonly keysFolder: string;
  readonly spaces: readonly SpaceSpec[];
  readonly log: (event: object) => void;
  /** Called for each call of the object store. */
  readonly onCalled: (call: ObjectsCall) => void;
}

/** Retains the Tenants' content beyond this disk. Its keys and last backup are the cluster's: it waits while etcd is away. */
export interface KeptContent extends ContentKeeper {
  /** Takes up a slot, before anything asks for its Tenants. */
  enter(slot: number, store: SlotStore): Promise<void>;
  /** Releases a slot. Its indexes must be closed. */
  leave(slot: number): Promise<void>;
  /** Copies of the indexes of slots that other servers have. */
  follow(tenants: Tenants): FollowedIndexes;
}

/** The keys are asked for again a second later: an unresponsive member must not hold a request for long. */
const KEYS_ANSWER_MS_MAX = 800;

/**
 * Opens the object store with the content that the stores reference. Folders of Tenants that the stores do not know are removed.
 * @throws ConfigError for an unusable object store, a missing key, or stores that were begun without objects
 */
export async function openKeptContent(options: KeptContentOptions): Promise<KeptContent> {
  const { settings, stores, tenantsFolders, keysFolder, spaces, log, onCalled } = options;
  const clusterKeys = await namedClusterKeys(settings);
  const objects = new GuardedObjects(await namedObjects(settings), { log, onCalled });
  await objects.check().catch((error: unknown) => {
    if (error instanceof UnsuitableStoreError) throw new ConfigError(`FARTHING_OBJECTS: ${error.message}`);
    throw new ConfigError(`FARTHING_OBJECTS: the store does not answer (${rootCause(error)})`);
  });
  const content = new Content({ slots: tenantsFolders.length, clusterKeys, objects, log });
  const enter = async (slot: number, store: SlotStore) => {
    content.add(slot, store);
    await content.open([slot]);
    await removeUnknown(tenantsFolders[slot]!, store, log);
  };
  for (const [slot, store] of stores.entries()) await enter(slot, store);
  const etcd = await namedEtcd(settings, { answerMsMax: KEYS_ANSWER_MS_MAX });
  const shared = receiptKeysRow(etcd, clusterName(settings), clusterKeys);
  const answered = <T>(ask: () => Promise<T>) =>
    untilAnswered(ask, ({ message }) => log({ event: 'log_answer_lost', error: message }));
  return {
    enter,
    leave: (slot) => content.leave(slot),
    keeper: new ContentIndexKeeper(content, spaces),
    files: (tenants) =>
      new KeptFiles({
        content,
        here: filesIn(tenants, { areCopies: true }),
        use: (tenant, work) => tenants.use(tenant, {}, work),
      }),
    follow: (tenants) =>
      new FollowedIndexes({
        slots: tenantsFolders.length,
        clusterKeys,
        objects,
        spaces,
        folders: tenantsFolders,
        open: (folder, wanted) => tenants.openApart(folder, wanted),
        bytesMax: settings.STANDBY_BYTES_MAX,
        freeBytesMin: settings.FREE_DISK_BYTES_MIN,
        log,
      }),
    makeAlone: forgetObjects,
    openSigner: () => answered(() => openReceiptSigner(keysFolder, { shared, log })),
    lastBackup: async () => {
      const key = BACKUP_ROWS.key(clusterName(settings), 'last');
      const [row] = await answered(() => etcd.range(key, `${key}\0`));
      return row && BACKUP_ROWS.parse(key, row.value).at;
    },
    close: () => etcd.close(),
  };
}

/**
 * Removes folders of Tenants that another server destroyed while this disk was away.
 * @param folder of a slot's Tenants
 * @param store of the slot
 */
async function removeUnknown(folder: string, store: SlotStore, log: (event: object) => void): Promise<void> {
  const { heads } = new ContentRows(store);
  for (const tenant of await readdir(folder).catch(() => [])) {
    if (tenant.startsWith('.') || heads.get(tenant)) continue;
    await unlinkTenant(folder, tenant);
    log({ event: 'unknown_folder_removed', tenant });
  }
}
