import { readFile, rm, writeFile } from 'node:fs/promises';
import { FarthingError } from '@farthing/protocol/error';
import { positionOf } from '@farthing/server/state/log-position';
import { openStore, type RawStore } from '@farthing/server/state/store';
import type { Claim } from '../members/slot-claims.ts';
import type { Pause } from '../stores/kv.ts';
import type { Lease } from '../stores/lease.ts';
import { within } from '../stores/within.ts';
import { catchUp } from './log-reader.ts';
import { entriesOf, type RecordedStore, recordedStore, type SlotStore } from './recorded-store.ts';
import { ENTRY_BYTES_MAX, type SlotLog } from './slot-log.ts';
import { type BooksCopy, StateCopy } from './state-copy.ts';

const PART_BYTES = ENTRY_BYTES_MAX / 2;
/** A server that stops waits so long for an etcd that is away. */
const CLOSE_MS_MAX = 10_000;

/** The state of a slot whose truth is its log. */
export type LoggedStore = RecordedStore & Required<SlotStore>;

export interface LoggedStoreOptions {
  /** Absolute path of the folder of the slot's state. */
  readonly folder: string;
  /** The state in that folder, where it is open; closed where this throws. */
  readonly copy?: BooksCopy | undefined;
  /** Absolute path of the slot's content of Tenants on this disk: useless once another node has owned the slot since. */
  readonly contentFolder?: string | undefined;
  readonly slotLog: SlotLog;
  readonly claim: Claim;
  /** Lease of the claim. */
  readonly lease: Lease | undefined;
  readonly log: (event: object) => void;
  /** Called once it is closed. */
  readonly onClosed: () => Promise<void>;
}

/**
 * Opens the state of a slot that this process has claimed: it is reused where its log contains its position, and rebuilt from the log
 * otherwise.
 * @throws ConfigError for a state without a log; LogDamagedError with the position
 */
export async function openLoggedStore(options: LoggedStoreOptions): Promise<LoggedStore> {
  const { folder, contentFolder, claim, lease, slotLog, log, onClosed } = options;
  let { copy } = options;
  try {
    if (contentFolder !== undefined && (await isOutdated(folder, claim))) {
      log({ event: 'content_outdated', folder: contentFolder });
      await rm(contentFolder, { recursive: true, force: true });
    }
    if (lease) await writeFile(servedNoteOf(folder), String(claim.fence.revision));
    copy ??= await StateCopy.open(folder);
    await catchUp(copy, slotLog);
    const state = copy.store;
    const takeSnapshot = () => trimTo(state, slotLog, `${folder}.snapshot`);
    return loggedStore({ state, slotLog, lease, takeSnapshot, log, onClosed });
  } catch (error) {
    await copy?.close();
    throw error;
  }
}

/**
 * Whether another server has had the slot since this folder was in use. The folder notes its own claim once it is as the slot is, so that
 * a start that ends in between counts as none.
 */
async function isOutdated(folder: string, { former }: Claim): Promise<boolean> {
  if (former === undefined) return false;
  const noted = await readFile(servedNoteOf(folder), 'utf8').catch(() => undefined);
  return noted !== String(former);
}

function servedNoteOf(folder: string): string {
  return `${folder}.served`;
}

/** Parts of a store with a log. */
export interface LoggedParts {
  /** State according to the log. */
  readonly state: RawStore;
  readonly slotLog: SlotLog;
  readonly lease: Pick<Lease, 'holds' | 'silentMs'> | undefined;
  /** Replaces the log's entries by a snapshot. */
  readonly takeSnapshot: () => Promise<void>;
  readonly log: (event: object) => void;
  /** Called once it is closed. */
  readonly onClosed: () => Promise<void>;
  readonly pause?: Pause;
}

/** A state whose every transaction is an entry of its log. No result is reported before its entry is safe there. */
export function loggedStore({
  state,
  slotLog,
  lease,
  takeSnapshot,
  log,
  onClosed,
  pause,
}: LoggedParts): LoggedStore {
  const recorded = recordedStore(state, slotLog);
  const stable = async () => {
    await recorded.stable().catch(cannotTell);
    // Another server may be telling something else by now.
    if (lease?.holds === false) cannotTell(new Error('the lease was not renewed in time'));
  };
  let trimming: Promise<void> | undefined;
  return {
    ...recorded,
    stable,
    lagMs: () => (lease?.holds === false ? Math.max(slotLog.lagMs, lease.silentMs) : slotLog.lagMs),
    trim: async () => {
      if (trimming || !slotLog.snapshotIsDue) return;
      trimming = takeSnapshot()
        .catch((error: unknown) => log({ event: 'log_not_trimmed', error: String(error) }))
        .finally(() => {
          trimming = undefined;
        });
      await trimming;
    },
    close: async () => {
      // Writes that etcd has not accepted by then were never acknowledged.
      const stable = Promise.all([trimming, recorded.stable()]).catch(() => undefined);
      await within(CLOSE_MS_MAX, stable, pause);
      await recorded.close();
      await onClosed();
    },
  };
}

/** Its writes may never be acknowledged: another process may have answered differently. */
function cannotTell(cause: unknown): never {
  throw new FarthingError('interrupted', 'Another server has taken over. Send the same request again.', {
    retryAfterS: 2,
    cause,
  });
}

/** @param folder for a copy of the state at one position in the log, which is removed again */
async function trimTo(state: RawStore, log: SlotLog, folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await state.copyTo(folder);
  const copy = openStore(folder);
  try {
    const position = positionOf(copy)!;
    // The log must contain everything in the copy before entries are removed.
    await log.stable();
    await log.trim(position, entriesOf(copy, PART_BYTES));
  } finally {
    await copy.close();
    await rm(folder, { recursive: true, force: true });
  }
}
