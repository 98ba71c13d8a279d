import t, { type Test } from 'tap';
import { MINUTE_MS } from '../../../../src/protocol/clock.ts';
import { idFrom, newId, type WorkspaceId } from '../../../../src/protocol/id.ts';
import { openStore, type Store } from '../../../../src/server/state/store.ts';
import { PendingEffects } from '../../../../src/server/workspace/records/pending-effects.ts';
import { WorkspaceRecords } from '../../../../src/server/workspace/records/records.ts';
import { RentedTime } from '../../../../src/server/workspace/time/rented-time.ts';
import { WORKSPACE_SETTINGS } from '../../../../src/server/workspace/time/settings.ts';
import {
  DISPOSAL_REASONS,
  type DisposalReason,
  WORKSPACE_STATES,
  type WorkspaceRecord,
  type WorkspaceState,
  workspaceMayPass,
} from '../../../../src/server/workspace/workspace.ts';
import { SimulatedClock } from '../simulated-clock.ts';

const LAWFUL = ['pending active', 'pending disposing', 'active disposing', 'disposing disposed'];
const END = { reason: 'deleted', tokenKept: true, expiresAt: 0 } as const;

interface Place {
  readonly store: Store;
  readonly clock: SimulatedClock;
  readonly records: WorkspaceRecords;
  /** A new workspace in this state. */
  put(state: WorkspaceState): Promise<WorkspaceId>;
}

function openPlace(t: Test): Place {
  const store = openStore(t.testdir());
  t.teardown(() => store.close());
  const clock = new SimulatedClock();
  const time = new RentedTime(store, clock, { downtimeRefundMinutesMax: 60, monotonic: clock.monotonic });
  const pendingEffects = new PendingEffects(store);
  const records = new WorkspaceRecords({ store, clock, time, settings: WORKSPACE_SETTINGS, pendingEffects });
  let made = 0;
  const put = async (state: WorkspaceState) => {
    const id = idFrom('workspace', String(made++).padStart(32, '0'));
    const ended = state === 'disposing' || state === 'disposed';
    const record: WorkspaceRecord = {
      id,
      state,
      createdAt: clock.now(),
      endsAt: time.now() + 15 * MINUTE_MS,
      ttlMinutesAsked: null,
      ttlMinutes: 15,
      price: 17_500n,
      spend: state === 'pending' ? 0n : 17_500n,
      spendLimit: null,
      pendingSteps: [],
      ...(ended && { end: state === 'disposed' ? { ...END, disposedRented: time.now() } : END }),
    };
    await store.transaction(() => records.write(undefined, record));
    return id;
  };
  return { store, clock, records, put };
}

t.test('a workspace takes every allowed step, and no other', async (t) => {
  const { records, put } = openPlace(t);
  for (const from of WORKSPACE_STATES) {
    for (const to of WORKSPACE_STATES) {
      const id = await put(from);
      const before = records.get(id)!;
      const lawful = LAWFUL.includes(`${from} ${to}`);
      t.equal(workspaceMayPass(from, to), lawful, `${from} to ${to}`);
      const passing = records.transaction(() => records.write(before, { ...before, state: to }));
      if (lawful || from === to) await passing;
      else await t.rejects(passing, { code: 'internal' });
      t.equal(records.get(id)?.state, lawful ? to : from);
    }
  }
});

t.test('only a creation that waits for its payment becomes active, and its minutes begin once', async (t) => {
  const { records, clock, put } = openPlace(t);
  const after = { pending: 'active', active: 'active', disposing: 'disposing', disposed: 'disposed' };
  for (const state of WORKSPACE_STATES) {
    const id = await put(state);
    t.equal((await records.activate(id, 'hash')).state, after[state]);
    const { endsAt } = records.get(id)!;
    clock.advance(MINUTE_MS);
    await records.activate(id, 'hash');
    t.equal(records.get(id)?.endsAt, endsAt);
  }
  await t.rejects(records.activate(newId('workspace'), 'hash'), { code: 'internal' });
});

t.test('each reason ends what it may end, and nothing else', async (t) => {
  const { records, clock, put } = openPlace(t);
  const ends: Record<DisposalReason, readonly WorkspaceState[]> = {
    deleted: ['active'],
    operator: ['active'],
    expired: [],
    payment_failed: ['pending'],
  };
  for (const reason of DISPOSAL_REASONS) {
    for (const from of WORKSPACE_STATES) {
      const id = await put(from);
      const ended = ends[reason].includes(from);
      const record = await records.beginEnd(id, reason);
      t.equal(record?.state, ended ? 'disposing' : from, `${reason} of one that is ${from}`);
      if (ended) t.match(record?.end, { reason, tokenKept: reason === 'deleted' });
    }
  }
  const id = await put('active');
  clock.advance(15 * MINUTE_MS - 1);
  t.equal((await records.beginEnd(id, 'expired'))?.state, 'active', 'not before its time');
  clock.advance(1);
  t.match(await records.beginEnd(id, 'expired'), { state: 'disposing', end: { tokenKept: true } });
});
