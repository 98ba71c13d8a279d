import type { Clock } from '../domain/clock.ts';
import type { TenantId, WorkspaceId } from '../domain/id.ts';
import type { WorkspaceRecord } from '../domain/workspace.ts';
import type { Store, Table } from '../state/store.ts';
import { type PayerRow, PayerRows } from './payer/payer-rows.ts';
import { PendingEffects } from './records/pending-effects.ts';
import { WorkspaceRecords } from './records/records.ts';
import { RentedTime } from './time/rented-time.ts';
import { WORKSPACE_SETTINGS } from './time/settings.ts';

/** Entries read before the event loop gets a turn. */
const PAGE = 500;

/**
 * A copy of the state, taken while the server runs. It says which Tenants belong into the backup; what ends while their
 * folders are copied one after the other ends in the copy too.
 */
export class CopiedRegistry {
  readonly #records: WorkspaceRecords;
  readonly #payers: PayerRows;

  constructor(copy: Store, clock: Clock) {
    // The copy stands still from here on: no time passes in it.
    const time = new RentedTime(copy, clock, {
      downtimeRefundMinutesMax: Number.POSITIVE_INFINITY,
      monotonic: () => 0,
    });
    const pendingEffects = new PendingEffects(copy);
    this.#records = new WorkspaceRecords({
      store: copy,
      clock,
      time,
      settings: WORKSPACE_SETTINGS,
      pendingEffects,
    });
    this.#payers = new PayerRows(copy, time);
  }

  /** Ids of all Tenants that may hold something: living workspaces, and payers with an index. */
  async *tenants(): AsyncGenerator<TenantId> {
    yield* this.#livingWorkspaces();
    yield* this.#payers.all();
  }

  /** Ends in the copy what has ended in the server by now. @returns the Tenants whose data is gone. */
  async endAsIn(live: Store): Promise<TenantId[]> {
    const workspaces: Table<WorkspaceRecord> = live.table('workspaces');
    const payers: Table<PayerRow> = live.table('payer_index');
    const gone: TenantId[] = [];
    for await (const workspace of this.#livingWorkspaces()) {
      const record = workspaces.get(workspace);
      if (!record || record.state === 'active') continue;
      await this.#records.adoptEnd(workspace, record);
      if (record.state === 'disposed') gone.push(workspace);
    }
    for (const payer of this.#payers.all()) {
      if (payers.get(payer) !== undefined) continue;
      await this.#payers.set(payer, () => undefined);
      gone.push(payer);
    }
    return gone;
  }

  async *#livingWorkspaces(): AsyncGenerator<WorkspaceId> {
    for (let after: WorkspaceId | undefined; ; ) {
      const page: WorkspaceRecord[] = this.#records.list({ after, limit: PAGE });
      for (const { id, state } of page) if (state === 'active' || state === 'disposing') yield id;
      if (page.length < PAGE) return;
      after = page.at(-1)!.id;
      await new Promise(setImmediate);
    }
  }
}
