import type { Clock } from '@farthing/protocol/clock';
import type { Store } from '../state/store.ts';
import { PayerRows } from './payer/payer-rows.ts';
import { PendingEffects } from './records/pending-effects.ts';
import { WorkspaceRecords } from './records/records.ts';
import { RentedTime } from './time/rented-time.ts';
import { WORKSPACE_SETTINGS } from './time/settings.ts';

const PAGE = 500;

/** Ends the time of all workspaces and of all wallets' indexes in a stopped server's store: its next start destroys them as expired ones. */
export async function endAll(store: Store, clock: Clock): Promise<{ workspaces: number; indexes: number }> {
  // No time passes here.
  const time = new RentedTime(store, clock, {
    downtimeRefundMinutesMax: Number.POSITIVE_INFINITY,
    monotonic: () => 0,
  });
  const pendingEffects = new PendingEffects(store);
  const records = new WorkspaceRecords({ store, clock, time, settings: WORKSPACE_SETTINGS, pendingEffects });
  const payers = new PayerRows(store, time);
  const endsAt = time.now();
  let [workspaces, indexes] = [0, 0];
  for (let after: string | undefined; ; ) {
    const page = records.list({ after, limit: PAGE });
    for (const { id } of page)
      await records.transaction(() => {
        const record = records.get(id);
        if (record?.state !== 'active' || record.endsAt <= endsAt) return;
        records.write(record, { ...record, endsAt });
        workspaces += 1;
      });
    if (page.length < PAGE) break;
    after = page.at(-1)!.id;
  }
  for (const payer of payers.all()) {
    await payers.set(payer, (row) => row && { ...row, endsAt: Math.min(row.endsAt, endsAt) });
    indexes += 1;
  }
  return { workspaces, indexes };
}
