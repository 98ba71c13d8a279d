import { join } from 'node:path';
import t from 'tap';
import { payerTenantId } from '../../../../src/protocol/id.ts';
import { openStore } from '../../../../src/server/state/store.ts';
import { PayerIndex } from '../../../../src/server/workspace/payer/payer-index.ts';
import { RentedTime } from '../../../../src/server/workspace/time/rented-time.ts';
import { FakeTenants } from '../fake-tenants.ts';
import { SimulatedClock } from '../simulated-clock.ts';
import '../../../rig/teardown-order.ts';

const PAYER = payerTenantId('0x00000000000000000000000000000000000000aa');
const HOUR = 3_600_000;

function open(
  t: { testdir(): string; teardown(work: () => Promise<void>): void },
  { drainSecondsMax = 60 } = {},
) {
  const folder = t.testdir();
  const store = openStore(join(folder, 'state'));
  t.teardown(() => store.close());
  const clock = new SimulatedClock();
  const time = new RentedTime(store, clock, { downtimeRefundMinutesMax: 60, monotonic: clock.monotonic });
  const tenants = new FakeTenants(join(folder, 'tenants'));
  const stopped: string[] = [];
  let begin = (): void => undefined;
  let held = Promise.resolve();
  const stopping = {
    begun: new Promise<void>((resolve) => {
      begin = resolve;
    }),
    hold: () => {
      let goOn = (): void => undefined;
      held = new Promise((resolve) => {
        goOn = resolve;
      });
      return goOn;
    },
  };
  const events: object[] = [];
  const index = new PayerIndex({
    store,
    time,
    tenants,
    stopTenant: async (tenant) => {
      stopped.push(tenant);
      begin();
      await held;
    },
    lifetimeHours: 24,
    drainSecondsMax,
    log: (event) => events.push(event),
  });
  return {
    clock,
    time,
    tenants,
    index,
    stopped,
    stopping,
    events,
  };
}

t.test('an index lives a set time after its last paid ingest', async (t) => {
  const { clock, tenants, index } = open(t);
  t.equal(index.expiry(PAYER), null);
  t.equal(index.expiryAfterIngest(PAYER), '2026-11-22T09:00:00.000Z');
  await index.ensure(PAYER);
  tenants.ingest(PAYER, 'a'.repeat(64));
  clock.advance(HOUR);
  await index.ensure(PAYER);
  t.equal(index.expiry(PAYER), '2026-11-22T09:00:00.000Z', 'an unpaid one prolongs nothing');
  await index.touch(PAYER);
  t.equal(index.expiry(PAYER), '2026-11-22T10:00:00.000Z');
  clock.advance(24 * HOUR - 1);
  await index.sweep();
  t.ok(tenants.has(PAYER));
  clock.advance(1);
  await index.sweep();
  t.notOk(tenants.has(PAYER));
  await index.touch(PAYER);
  t.equal(index.expiry(PAYER), null, 'what comes too late begins no new one');
});

t.test('a disposal waits for requests that began before it; later ones wait for the disposal', async (t) => {
  const { clock, tenants, index, stopped } = open(t);
  await index.ensure(PAYER);
  tenants.ingest(PAYER, 'a'.repeat(64));
  const leave = await index.enter(PAYER);
  clock.advance(24 * HOUR);
  const sweep = index.sweep();
  const late = index.enter(PAYER);
  await new Promise(setImmediate);
  t.ok(tenants.has(PAYER));
  leave();
  (await late)();
  await sweep;
  t.notOk(tenants.has(PAYER));
  t.strictSame(stopped, [PAYER], 'what the requests left is stopped');
});

t.test('nothing is accepted during a disposal, and what is written after it has an end again', async (t) => {
  const { clock, tenants, index, stopping, events } = open(t, { drainSecondsMax: 0.01 });
  await index.ensure(PAYER);
  tenants.ingest(PAYER, 'a'.repeat(64));
  const leave = await index.enter(PAYER);
  clock.advance(24 * HOUR);
  const goOn = stopping.hold();
  const sweep = index.sweep();
  await stopping.begun;
  await t.rejects(index.ensure(PAYER), { code: 'overloaded', retryAfterS: 1 });
  goOn();
  await sweep;
  t.match(events, [{ event: 'disposal_without_waiting' }, { event: 'payer_index_disposed' }]);
  t.notOk(tenants.has(PAYER));
  tenants.ingest(PAYER, 'b'.repeat(64));
  leave();
  clock.advance(24 * HOUR);
  await index.sweep();
  t.notOk(tenants.has(PAYER));
  t.equal(index.expiry(PAYER), null);
});
