import type { Clock } from '@farthing/protocol/clock';
import type { TenantId, WorkspaceId } from '@farthing/protocol/id';
import type { Store, Table } from '../state/store.ts';
import { type PayerRow, PayerRows } from './payer/payer-rows.ts';
import { PendingEffects } from './records/pending-effects.ts';
import { WorkspaceRecords } from './records/records.ts';
import { RentedTime } from './time/rented-time.ts';
import { WORKSPACE_SETTINGS } from './time/settings.ts';
import { mayHoldData, type WorkspaceRecord } from './workspace.ts';

/** Records read between two yields to the event loop. */
const PAGE = 500;

/**
 * The registry in a state that no server runs over: a copy that a backup took while the server runs, or a stopped server's. It lists the
 * Tenants that belong in the backup. Tenants that end while the folders are copied end in the copy, too.
 */
export class CopiedRegistry {
  readonly #records: WorkspaceRecords;
  readonly #payers: PayerRows;
  readonly #time: RentedTime;

  constructor(copy: Store, clock: Clock) {
    // No time passes here.
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
    this.#time = time;
  }

  /** All Tenants that may hold something: workspaces that have begun and not ended, and payers with an index. */
  async *tenants(): AsyncGenerator<TenantId> {
    for await (const { id, state } of this.#workspaces()) if (mayHoldData(state)) yield id;
    yield* this.#payers.all();
  }

  /** Ends the time of all workspaces and of all wallets' indexes: the next start destroys them as expired ones. */
  async endAll(): Promise<{ workspaces: number; indexes: number }> {
    const endsAt = this.#time.now();
    let [workspaces, indexes] = [0, 0];
    for await (const { id } of this.#workspaces())
      await this.#records.transaction(() => {
        const record = this.#records.get(id);
        // No money bought what is the house's.
        if (record?.state !== 'active' || record.house || record.endsAt <= endsAt) return;
        this.#records.write(record, { ...record, endsAt });
        workspaces += 1;
      });
    for (const payer of this.#payers.all()) {
      await this.#payers.set(payer, (row) => row && { ...row, endsAt: Math.min(row.endsAt, endsAt) });
      indexes += 1;
    }
    return { workspaces, indexes };
  }

  /** Ends in the copy what has ended in the server. @returns the Tenants whose data is gone. */
  async endAsIn(live: Store): Promise<TenantId[]> {
    const workspaces: Table<WorkspaceRecord> = live.table('workspaces');
    const payers: Table<PayerRow> = live.table('payer_index');
    const gone: TenantId[] = [];
    for await (const { id: workspace, state } of this.#workspaces()) {
      if (!mayHoldData(state)) continue;
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

  async *#workspaces(): AsyncGenerator<WorkspaceRecord> {
    for (let after: WorkspaceId | undefined; ; ) {
      const page: WorkspaceRecord[] = this.#records.list({ after, limit: PAGE });
      yield* page;
      if (page.length < PAGE) return;
      after = page.at(-1)!.id;
      await new Promise(setImmediate);
    }
  }
}
