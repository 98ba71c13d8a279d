import type { Clock } from '@farthing/protocol/clock';
import { errorCode, FarthingError } from '@farthing/protocol/error';
import type { WorkspaceId } from '@farthing/protocol/id';
import type { DisposalAnswer, ReceiptClaims } from '@farthing/protocol/schema/workspaces';
import type { Activity, Counters } from '../activity/activity.ts';
import type { WorkspaceRecords } from '../records/records.ts';
import type { TenantFolders } from '../tenant/folders.ts';
import { inventoryOf } from '../tenant/inventory.ts';
import type { RunningRequests } from '../tenant/running-requests.ts';
import type { WorkspaceSettings } from '../time/settings.ts';
import type { DisposalReason, WorkspaceInventory, WorkspaceRecord } from '../workspace.ts';
import type { ReceiptSigner } from './receipt.ts';
import { type KeptElsewhere, type RemoveCopies, receiptClaims } from './receipt-claims.ts';

export interface DisposalDeps {
  readonly clock: Clock;
  readonly records: WorkspaceRecords;
  readonly activity: Activity;
  readonly requests: RunningRequests;
  readonly tenants: TenantFolders;
  readonly signer: Pick<ReceiptSigner, 'sign'>;
  /** Base URL of this server, read at each signing: `iss` of the receipts. */
  readonly issuer: () => string;
  /** Cancels the workspace's jobs and waits for them. Called again once its requests have ended. */
  readonly stopTenant: (tenant: WorkspaceId) => Promise<void>;
  /** Resolves when no other thread reads the workspace. */
  readonly othersLeft: (id: WorkspaceId) => Promise<void>;
  readonly settings: WorkspaceSettings;
  readonly keptElsewhere: KeptElsewhere;
  readonly removeCopies: RemoveCopies;
  /** Whether encrypted copies of the workspaces' content exist beyond this disk. */
  readonly hasCopies: boolean;
  readonly log: (event: object) => void;
}

const COUNTED_LATER: ReadonlySet<unknown> = new Set(['interrupted', 'objects_unavailable']);

/**
 * The one path by which a workspace ends: DELETE, expiry, the operator, a failed payment. Every step is idempotent and
 * durable before the next begins, so that `run` resumes wherever a crash stopped it:
 *
 *     disposing ─ uploads given up, jobs stopped, requests ended ─ inventory stored ─ folder unlinked, copies and key destroyed ─ other servers’ copies removed ─ signed ─ disposed + receipt
 */
export class Disposals {
  readonly #deps: DisposalDeps;
  readonly #running = new Map<WorkspaceId, Promise<WorkspaceRecord | undefined>>();

  constructor(deps: DisposalDeps) {
    this.#deps = deps;
  }

  /**
   * Ends a workspace, or joins a disposal that has begun. @returns its record afterwards: disposed, or unchanged if the
   * reason does not hold (an extension came in time); undefined when there is none.
   */
  async end(id: WorkspaceId, reason: DisposalReason): Promise<WorkspaceRecord | undefined> {
    const record = await this.#deps.records.beginEnd(id, reason);
    return record?.state === 'disposing' ? this.run(record) : record;
  }

  /** Runs a disposal that has begun. Calls for the same workspace join the first. */
  run(record: WorkspaceRecord): Promise<WorkspaceRecord | undefined> {
    const { id } = record;
    const running = this.#running.get(id);
    if (running) return running;
    const disposal = this.#dispose(record).finally(() => this.#running.delete(id));
    this.#running.set(id, disposal);
    return disposal;
  }

  /** Resolves when the disposals that run now have ended. */
  async whenIdle(): Promise<void> {
    await Promise.allSettled(this.#running.values());
  }

  async #dispose(record: WorkspaceRecord): Promise<WorkspaceRecord | undefined> {
    const { id } = record;
    const { records, activity, requests, tenants, stopTenant, othersLeft, settings, log } = this.#deps;
    requests.giveUp(id);
    await stopTenant(id);
    await othersLeft(id);
    const drained = await requests.ended(id, settings.drainSecondsMax);
    if (!drained)
      log({ event: 'disposal_without_waiting', workspace: id, waited_s: settings.drainSecondsMax });
    // A request may have created a job just before it ended.
    await stopTenant(id);
    const counters = await activity.close(id);
    const counted =
      record.end?.inventory === undefined ? await records.keepInventory(id, await this.#count(id)) : record;
    await tenants.dispose(id);
    const disposed = await this.#conclude(counted, counters);
    await activity.forget(id);
    log({ event: 'workspace_disposed', workspace: id, reason: record.end?.reason });
    if (!drained) void this.#disposeLeavings(id);
    return disposed;
  }

  /** A request outlived the disposal: removes what it may have written. */
  async #disposeLeavings(id: WorkspaceId): Promise<void> {
    const { requests, stopTenant, tenants, log } = this.#deps;
    await requests.ended(id);
    try {
      await stopTenant(id);
      await tenants.dispose(id);
    } catch (error) {
      log({ event: 'leavings_not_disposed', workspace: id, error: String(error) });
    }
  }

  /** Signs last, when everything in the receipt is true. A creation that was never paid for gets no receipt. */
  async #conclude(record: WorkspaceRecord, counters: Counters) {
    const { clock, records, signer, issuer, settings, keptElsewhere, removeCopies, hasCopies } = this.#deps;
    if (record.end?.reason === 'payment_failed') {
      await records.transaction(() => records.erase(record.id));
      return undefined;
    }
    // Nobody can make another copy by now: its key is gone.
    const { removed, left } = await removeCopies(record.id);
    const disposedAt = clock.now();
    const claims = receiptClaims({
      record,
      counters,
      issuer: issuer(),
      disposedAt,
      settings,
      keptElsewhere: await keptElsewhere(record, disposedAt, left),
      hadCopies: hasCopies,
      removedBy: removed,
    });
    const receipt = await signer.sign(claims);
    return records.finishEnd(record.id, { disposedAt, receipt, claims });
  }

  /** Null for an index that cannot be read: its data is destroyed all the same. */
  async #count(id: WorkspaceId): Promise<WorkspaceInventory | null> {
    try {
      return await inventoryOf(this.#deps.tenants, id);
    } catch (error) {
      // The server stops, or the index has to come from a store that is away: it is counted later.
      if (COUNTED_LATER.has(errorCode(error))) throw error;
      this.#deps.log({ event: 'inventory_unreadable', workspace: id, error: String(error) });
      return null;
    }
  }
}

/** The answer to the token's holder. */
export function disposalAnswer({ id, end }: WorkspaceRecord): DisposalAnswer {
  if (!end?.receipt || !end.claims) throw new FarthingError('internal', `workspace ${id} has no receipt`);
  return { id, state: 'disposed', receipt: end.receipt, claims: end.claims as unknown as ReceiptClaims };
}
