import t from 'tap';
import { DelayedRefusals, LoopLoad } from '../../../../src/server/http/exchange/loop-load.ts';

t.test('a loop that only works is busy, one that waits is not', async (t) => {
  let clock = 0;
  const load = new LoopLoad(() => clock);
  const look = () => {
    clock += 200;
    return load.isBusy;
  };
  // Before its first wait the loop has used nothing.
  await new Promise((next) => setTimeout(next, 1));
  look();
  const until = performance.now() + 50;
  while (performance.now() < until);
  t.ok(look());
  // On a busy machine a wait may be followed by a turn that another process interrupts.
  let waits = 0;
  do await new Promise((next) => setTimeout(next, 50));
  while (look() && ++waits < 100);
  t.ok(waits < 100);
});

t.test('refusals wait while the loop is busy, other answers and further ones do not', async (t) => {
  const load = { isBusy: true };
  const refusals = new DelayedRefusals(load);
  const first = (wait: Promise<void>) =>
    Promise.race([wait.then(() => 'now'), Promise.resolve().then(() => 'later')]);
  t.equal(await first(refusals.wait(200)), 'now');
  t.equal(await first(refusals.wait(402)), 'now');
  const waiting = Array.from({ length: 2048 }, (_, at) => refusals.wait(at % 2 === 0 ? 429 : 503));
  t.equal(await first(waiting[0]!), 'later');
  t.equal(await first(refusals.wait(429)), 'now', 'there are too many already');
  let ended = 0;
  const turns: number[] = [];
  for (const wait of waiting) void wait.then(() => ++ended);
  await waiting[0];
  for (let before = 0; ended < waiting.length; before = ended) {
    await new Promise((next) => setImmediate(next));
    turns.push(ended - before);
  }
  t.ok(Math.max(...turns) <= 16, 'those that were made together end in many turns');
  load.isBusy = false;
  t.equal(await first(refusals.wait(503)), 'now');
});
