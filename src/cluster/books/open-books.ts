import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Tenants } from '../../shard/tenants.ts';
import { forgetLog } from '../../state/log-position.ts';
import { openStore } from '../../state/store.ts';
import { eventLog, type ProcessOptions, tenantsFolder } from '../../wiring/process.ts';
import { PeerPurchases } from '../across/peer-purchases.ts';
import type { KeptContent } from '../content/kept-content.ts';
import type { Standby } from '../handover/standby.ts';
import type { SlotStore } from '../log/recorded-store.ts';
import type { Joined } from '../ownership/join-cluster.ts';
import type { SharedSlots, SharedSlotsOptions } from '../ownership/shared-slots.ts';
import type { Elsewhere } from './slots.ts';

export type BooksOptions = Pick<
  ProcessOptions,
  'settings' | 'data' | 'slotFolders' | 'encoder' | 'log' | 'metrics'
>;

/** In the data folder: books that nothing is written to. */
const FRONT_FOLDER = 'front';

/** Where the books are: all of them here, or shared with other servers. */
export interface Books {
  /** States of all slots, in order. */
  readonly stores?: readonly SlotStore[];
  /** Books that nothing is written to. */
  readonly front?: SlotStore;
  /** Where several servers share the slots. */
  readonly sharing?: Sharing;
  /** For a start that failed. */
  close(): Promise<void>;
}

/** A place among servers that share their slots. */
export interface Sharing extends Pick<Joined, 'signatures' | 'calls' | 'ca'> {
  readonly elsewhere: Elsewhere;
  /** What this server does with the slots that it gets. To be called before anything asks where a slot is. */
  with(
    parts: Pick<SharedSlotsOptions, 'slots' | 'onLost'> & {
      readonly kept: KeptContent;
      readonly tenants: Tenants;
    },
  ): SharedSlots;
  /** Gives the place back. */
  left(): Promise<void>;
}

/** Opens the books that the settings name. @throws ConfigError */
export async function openBooks(
  options: BooksOptions,
  onLost: (slot: number, error: unknown) => void,
): Promise<Books> {
  if (options.settings.NODE_URL !== '') return openSharedBooks(options, onLost);
  const stores = await openStates(options, onLost);
  return {
    stores,
    close: async () => {
      await Promise.all(stores.map((store) => store.close()));
    },
  };
}

async function openSharedBooks(
  { settings, data, slotFolders, encoder, log, metrics }: BooksOptions,
  onLost: (slot: number, error: unknown) => void,
): Promise<Books> {
  const [{ joinCluster }, { SharedSlots }, { SlotFolders }, { NO_STANDBY, Standby }, { StateCopy }] =
    await Promise.all([
      import('../ownership/join-cluster.ts'),
      import('../ownership/shared-slots.ts'),
      import('../ownership/slot-folders.ts'),
      import('../handover/standby.ts'),
      import('../log/state-copy.ts'),
    ]);
  const report = eventLog(metrics, log);
  const joined = await joinCluster({
    settings,
    spaces: encoder.spaces,
    log: report,
    onLost: (error) => onLost(0, error),
    onCommitted: metrics.logCommitted,
  });
  const { modelsDiffer } = joined;
  if (modelsDiffer !== undefined) {
    const event = { event: 'models_differ', how: modelsDiffer, consequence: 'this server takes no slots' };
    metrics.logged(event);
    log.error(event);
  }
  const folder = join(data, FRONT_FOLDER);
  await rm(folder, { recursive: true, force: true });
  const front = openStore(folder, { durable: false });
  const folders = slotFolders.map((slot) => ({ state: join(slot, 'state'), content: tenantsFolder(slot) }));
  let shared: SharedSlots | undefined;
  let standby: Standby | undefined;
  return {
    front,
    sharing: {
      signatures: joined.signatures,
      calls: joined.calls,
      ca: joined.ca,
      elsewhere: {
        whereElse: (slot) => shared!.whereElse(slot),
        removeCopies: (slot, tenant) => shared!.removeCopies(slot, tenant),
        removeCopy: (slot, tenant) => shared!.removeCopy(slot, tenant),
        standby: () => standby?.figures ?? NO_STANDBY,
        unowned: () => shared!.unowned(),
        modelsDiffer,
        silentMs: () => (joined.lease.holds ? 0 : joined.lease.silentMs),
        purchases: new PeerPurchases(joined.calls),
      },
      with: ({ tenants, ...parts }) => {
        standby =
          settings.STANDBY_BYTES_MAX > 0
            ? new Standby({
                ...joined,
                openCopy: (slot) => StateCopy.open(folders[slot]!.state),
                indexes: parts.kept.follow(tenants),
                log: report,
              })
            : undefined;
        const disk = new SlotFolders({ folders, lease: joined.lease, log: report });
        shared = new SharedSlots({
          ...joined,
          ...parts,
          standby,
          disk,
          count: folders.length,
          log: report,
        });
        return shared;
      },
      left: () => joined.close(),
    },
    close: async () => {
      await front.close();
      await joined.close();
    },
  };
}

/** Opens the slots' states, and where the settings name a cluster, claims them there. */
async function openStates(
  { settings, slotFolders, log, metrics }: BooksOptions,
  onLost: (slot: number, error: unknown) => void,
): Promise<readonly SlotStore[]> {
  const folders = slotFolders.map((folder) => join(folder, 'state'));
  if (settings.CLUSTER === '') {
    const stores = folders.map((folder) => openStore(folder));
    await Promise.all(stores.map((store, slot) => forgetLog(store, folders[slot]!)));
    return stores;
  }
  const { openLoggedStores } = await import('../log/logged-stores.ts');
  const onCommitted = metrics.logCommitted;
  const contentFolders = slotFolders.map(tenantsFolder);
  return openLoggedStores({
    settings,
    folders,
    contentFolders,
    log: eventLog(metrics, log),
    onLost,
    onCommitted,
  });
}
