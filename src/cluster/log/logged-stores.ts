import { ConfigError } from '@farthing/server/settings/config';
import type { Settings } from '@farthing/server/settings/settings';
import { moneyOf } from '@farthing/server/state/folder-money';
import { type Claim, ClaimError } from '../members/slot-claims.ts';
import { AccessRefusedError, type Etcd } from '../stores/etcd.ts';
import { Lease } from '../stores/lease.ts';
import { clusterName, namedEtcd } from '../stores/named-stores.ts';
import { type LoggedStore, openLoggedStore } from './logged-store.ts';
import type { SlotLog } from './slot-log.ts';
import { openSlotLogs, type SlotLogsOptions } from './slot-logs.ts';

export interface LoggedStoresOptions {
  readonly settings: Settings;
  /** Absolute paths of the folders of the slots' states. */
  readonly folders: readonly string[];
  /** Absolute paths of what each slot keeps of its Tenants on this disk: of no use once another node had the slot since. */
  readonly contentFolders?: readonly string[];
  readonly log: (event: object) => void;
  /** Another process has claimed a slot, or its state can follow its log no more: this process may answer nothing. */
  readonly onLost: (slot: number, error: unknown) => void;
  /** Called for each transaction of the log, with its milliseconds. */
  readonly onCommitted?: (milliseconds: number) => void;
}

export const LEASE_ANSWER_MS_MAX = 800;

/**
 * Claims the slots on etcd and opens their states: each is reused where its log contains its position, and rebuilt from the log otherwise.
 * @throws ConfigError when another node has the slots; LogDamagedError with the position
 */
export async function openLoggedStores(options: LoggedStoresOptions): Promise<LoggedStore[]> {
  const { settings, folders, contentFolders, log, onLost, onCommitted } = options;
  const kv = await namedEtcd(settings);
  const seconds = settings.CLUSTER_LEASE_SECONDS;
  // An unresponsive member must not cost a renewal.
  const leases = seconds > 0 ? await namedEtcd(settings, { answerMsMax: LEASE_ANSWER_MS_MAX }) : undefined;
  let lease: Lease | undefined;
  const takeLease =
    leases &&
    (async () => {
      const lost = (error: Error) => onLost(0, error);
      lease ??= await Lease.take({ leases, seconds, onLost: lost });
      return lease;
    });
  const claims: Claim[] = [];
  const cluster = clusterName(settings);
  const node = settings.NODE_ID;
  const slots = folders.length;
  const began = performance.now();
  const logs = await openLogs(kv, {
    cluster,
    node,
    slots,
    money: moneyOf(settings).money,
    onLost,
    log,
    onClaimed: (slot, claim) => {
      claims[slot] = claim;
    },
    ...(takeLease && { lease: takeLease }),
    ...(onCommitted && { onCommitted }),
  }).catch((error: unknown) => {
    kv.close();
    leases?.close();
    throw error instanceof ClaimError || error instanceof AccessRefusedError
      ? new ConfigError(`FARTHING_CLUSTER: ${error.message}`)
      : error;
  });
  const stores: LoggedStore[] = [];
  let open = slots;
  const closed = async () => {
    open -= 1;
    if (open > 0) return;
    kv.close();
    await lease?.end();
    leases?.close();
  };
  for (const [slot, folder] of folders.entries())
    stores.push(
      await openLoggedStore({
        folder,
        ...(contentFolders && { contentFolder: contentFolders[slot]! }),
        slotLog: logs[slot]!,
        claim: claims[slot]!,
        lease,
        log,
        onClosed: closed,
      }),
    );
  log({ event: 'slots_claimed', node, slots, ms: Math.round(performance.now() - began) });
  return stores;
}

/** Waits while etcd is away. @throws ClaimError, AccessRefusedError */
async function openLogs(kv: Etcd, options: Omit<SlotLogsOptions, 'kv'>): Promise<SlotLog[]> {
  await kv.check(`/farthing/${options.cluster}/`).catch((error: unknown) => {
    if (error instanceof AccessRefusedError) throw error;
  });
  return openSlotLogs({ kv, ...options });
}
