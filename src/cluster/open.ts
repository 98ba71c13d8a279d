import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Services } from '@farthing/server/http/access/services';
import { forgetLog } from '@farthing/server/state/log-position';
import { openStore } from '@farthing/server/state/store';
import type { Books, BooksOptions } from '@farthing/server/wiring/books';
import { eventLog } from '@farthing/server/wiring/event-log';
import { keysFolder, type Runtime, tenantsFolder } from '@farthing/server/wiring/process';
import type { Topology, TopologyOptions } from '@farthing/server/wiring/topology';
import { peerHandlers } from './across/peer-handlers.ts';
import { PeerPurchases } from './across/peer-purchases.ts';
import { refuseWithoutObjects } from './content/books-with-objects.ts';
import { type KeptContent, openKeptContent } from './content/kept-content.ts';
import { type SharingOptions, SlotForward } from './forward/slot-forward.ts';
import type { SlotServices } from './forward/slot-places.ts';
import { slotGauges } from './gauges.ts';
import { removalHandlers } from './handover/removed-copies.ts';
import { NO_STANDBY, Standby } from './handover/standby.ts';
import { openLoggedStores } from './log/logged-stores.ts';
import type { SlotStore } from './log/recorded-store.ts';
import { StateCopy } from './log/state-copy.ts';
import { agreedSpaces } from './members/agreed-models.ts';
import { type Joined, joinCluster } from './ownership/join-cluster.ts';
import { SharedSlots } from './ownership/shared-slots.ts';
import { SlotFolders } from './ownership/slot-folders.ts';
import type { Sharing } from './sharing.ts';
import { type Slot, Slots, safetyOf } from './slots.ts';

type OnLost = (slot: number, error: unknown) => void;
type Times = Pick<BooksOptions, 'monotonic'>;

/** In the data folder: the default slot's store, which is never written to. */
const FRONT_FOLDER = 'front';

/**
 * The topology of several slots: all with this server, their logs in etcd or on this disk alone, or shared with other servers.
 * @throws ConfigError
 */
export async function openCluster(options: TopologyOptions): Promise<Topology> {
  const onLost: OnLost = (slot, error) => options.onLost({ event: 'slot_lost', slot, error: String(error) });
  return options.settings.NODE_URL === '' ? openAlone(options, onLost) : openShared(options, onLost);
}

/** This server has all slots. */
async function openAlone(options: TopologyOptions, onLost: OnLost): Promise<Topology> {
  const stores = await openStates(options, onLost);
  const kept = await openKept(options, stores).catch(async (error: unknown) => {
    await Promise.all(stores.map((store) => store.close()));
    throw error;
  });
  let slots: Slots;
  return {
    keeper: kept,
    place: (runtime, times) => {
      slots = new Slots(runtime, { stores, ...times });
      return slots;
    },
    forward: (servicesOf) => forwardTo(slots, servicesOf),
    gauges: slotGauges(() => ({ slots })),
  };
}

/** The slots come and go. */
async function openShared(options: TopologyOptions, onLost: OnLost): Promise<Topology> {
  const { settings, data, encoder, log, metrics } = options;
  const joined = await joinCluster({
    settings,
    spaces: agreedSpaces(encoder),
    log: eventLog(metrics, log),
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
  const kept = await openKept(options, []).catch(async (error: unknown) => {
    await front.close();
    await joined.close();
    throw error;
  });
  let shared: { readonly slots: Slots; readonly sharing: Sharing };
  return {
    keeper: kept,
    place: (runtime, times) => {
      shared = shareSlots(runtime, times, { joined, front, kept: kept!, onLost });
      return shared.slots;
    },
    forward: (servicesOf) => {
      const { slots, sharing } = shared;
      return forwardTo(slots, servicesOf, {
        ...joined,
        observe: metrics.forwarded,
        handlers: {
          ...peerHandlers((id) => slots.booksHere(id)),
          ...removalHandlers((tenant) => sharing.removeCopy(slots.numberOf(tenant), tenant)),
        },
      });
    },
    gauges: slotGauges(() => shared),
  };
}

interface SharedParts {
  readonly joined: Joined;
  readonly front: SlotStore;
  readonly kept: KeptContent;
  readonly onLost: OnLost;
}

function shareSlots(runtime: Runtime, times: Times, { joined, front, kept, onLost }: SharedParts) {
  const { settings, bookFolders, tenants, event: log } = runtime;
  const folders = bookFolders.map((slot) => ({ state: join(slot, 'state'), content: tenantsFolder(slot) }));
  const standby =
    settings.STANDBY_BYTES_MAX > 0
      ? new Standby({
          ...joined,
          openCopy: (slot) => StateCopy.open(folders[slot]!.state),
          indexes: kept.follow(tenants),
          log,
        })
      : undefined;
  const sharing: Sharing = {
    whereElse: (slot) => owned.whereElse(slot),
    removeCopies: (slot, tenant) => owned.removeCopies(slot, tenant),
    removeCopy: (slot, tenant) => owned.removeCopy(slot, tenant),
    standby: () => standby?.figures ?? NO_STANDBY,
    unowned: () => owned.unowned(),
    modelsDiffer: joined.modelsDiffer,
    silentMs: () => (joined.lease.holds ? 0 : joined.lease.silentMs),
    purchases: new PeerPurchases(joined.calls),
    start: (warm) => owned.start(warm),
    leave: () => owned.leave(),
    close: async () => {
      await owned.close();
      await joined.close();
    },
  };
  const slots = new Slots(runtime, { front, sharing, ...times });
  const owned = new SharedSlots({
    ...joined,
    slots: {
      enter: (slot, store) => slots.enter(slot, store),
      leave: (slot, msMax) => slots.giveUp(slot, msMax),
    },
    kept,
    onLost,
    standby,
    disk: new SlotFolders({ folders, lease: joined.lease, log }),
    count: folders.length,
    log,
  });
  return { slots, sharing };
}

function forwardTo(
  slots: Slots,
  servicesOf: (books: Books) => Services,
  sharing?: SharingOptions,
): SlotForward {
  const made = new WeakMap<Slot, SlotServices>();
  const slotServicesOf = (slot: Slot) => {
    const services = made.get(slot) ?? { ...servicesOf(slot), ...safetyOf(slot) };
    made.set(slot, services);
    return services;
  };
  const placeOf = (id: string) => {
    const place = slots.placeOf(id);
    return 'services' in place ? { services: slotServicesOf(place.services) } : place;
  };
  const isOne = !sharing && slots.count === 1;
  return new SlotForward({ front: slotServicesOf(slots.front), isOne, of: placeOf }, sharing);
}

/** Opens the slots' states, and where the settings name a cluster, claims them there. */
async function openStates(
  { settings, bookFolders, log, metrics }: TopologyOptions,
  onLost: OnLost,
): Promise<readonly SlotStore[]> {
  const folders = bookFolders.map((folder) => join(folder, 'state'));
  if (settings.CLUSTER !== '')
    return openLoggedStores({
      settings,
      folders,
      contentFolders: bookFolders.map(tenantsFolder),
      log: eventLog(metrics, log),
      onLost,
      onCommitted: metrics.logCommitted,
    });
  const stores = folders.map((folder) => openStore(folder));
  await Promise.all(stores.map((store, slot) => forgetLog(store, folders[slot]!)));
  return stores;
}

/** Retention of the Tenants' content, where the settings name an object store. */
async function openKept(
  { settings, data, bookFolders, encoder, log, metrics }: TopologyOptions,
  stores: readonly SlotStore[],
): Promise<KeptContent | undefined> {
  if (settings.OBJECTS === '') {
    if (settings.CLUSTER !== '') for (const store of stores) refuseWithoutObjects(store);
    return undefined;
  }
  return openKeptContent({
    settings,
    stores,
    tenantsFolders: bookFolders.map(tenantsFolder),
    keysFolder: keysFolder(data),
    spaces: encoder.spaces,
    log: eventLog(metrics, log),
    onCalled: metrics.objectsCalled,
  });
}
