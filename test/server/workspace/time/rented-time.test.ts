import t from 'tap';
import { openStore } from '../../../../src/server/state/store.ts';
import { RentedTime } from '../../../../src/server/workspace/time/rented-time.ts';

const store = openStore(t.testdir());
t.teardown(() => store.close());

t.test('the wall time of a moment is stable under rounding, and moves when a clock jumps', async (t) => {
  let ms = 0;
  let jump = 0;
  const time = new RentedTime(
    store,
    { now: () => Math.floor(2e12 + 0.6 + ms) + jump },
    { downtimeRefundMinutesMax: 10, monotonic: () => ms },
  );
  const moment = time.now() + 60_000;
  const told = new Set<number>();
  for (; ms < 5; ms += 0.1) told.add(time.toWall(moment));
  t.equal(told.size, 1);
  jump = 40;
  t.equal(time.toWall(moment), [...told][0]! + 40);
});

t.test('the wall time of a moment is the same though a busy machine stops the thread', async (t) => {
  let ms = 0;
  // Each look at a clock finds it later than the one before.
  let stops = 0;
  const later = () => (ms += stops);
  const clock = { now: () => 2e12 + later() };
  const time = new RentedTime(store, clock, { downtimeRefundMinutesMax: 10, monotonic: later });
  const told = time.toWall(60_000);
  for (const each of [3, 20, 400]) {
    stops = each;
    t.equal(time.toWall(60_000), told, `for ${each} ms`);
  }
});
