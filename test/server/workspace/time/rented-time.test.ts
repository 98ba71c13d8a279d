import t from 'tap';
import { MINUTE_MS } from '../../../../src/protocol/clock.ts';
import { openStore } from '../../../../src/server/state/store.ts';
import { RentedTime } from '../../../../src/server/workspace/time/rented-time.ts';
import { SimulatedClock } from '../simulated-clock.ts';

const store = openStore(t.testdir());
t.teardown(() => store.close());

function start(clock: SimulatedClock): RentedTime {
  return new RentedTime(store, clock, { downtimeRefundMinutesMax: 10, monotonic: clock.monotonic });
}

t.test('rented time follows the monotonic clock, whatever the wall clock does', async (t) => {
  const clock = new SimulatedClock();
  let time = start(clock);
  const first = time.now();
  clock.advance(1500);
  clock.jump(365 * 86_400_000);
  t.equal(time.now(), first + 1500);
  clock.jump(-730 * 86_400_000);
  t.equal(time.now(), first + 1500);
  t.equal(time.toWall(time.now() + 1000), clock.now() + 1000);

  await time.beat();
  clock.down(9 * MINUTE_MS);
  time = start(clock);
  t.equal(time.now(), first + 1500, 'downtime within the limit is given back');

  await time.beat();
  clock.down(14 * MINUTE_MS);
  time = start(clock);
  t.equal(time.now(), first + 1500 + 4 * MINUTE_MS, 'what is over it has passed');

  await time.beat();
  clock.advance(800);
  clock.down(0);
  time = start(clock);
  t.equal(time.now(), first + 1500 + 4 * MINUTE_MS, 'what was lived after the last heartbeat is given back');

  clock.down(-3 * 86_400_000);
  time = start(clock);
  t.equal(
    time.now(),
    first + 1500 + 4 * MINUTE_MS,
    'a wall clock set back during downtime takes no rented time',
  );
});

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
