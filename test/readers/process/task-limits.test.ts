import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { Deadline, ProcessorBudget } from '../../../src/readers/process/task-limits.ts';

t.test('a deadline comes, but not while it is held or after its end', async (t) => {
  await new Promise<void>((over) => new Deadline(1, over));
  t.pass('it came');
  let came = 0;
  const held = new Deadline(20, () => came++);
  held.hold();
  held.hold();
  held.resume();
  const ended = new Deadline(20, () => came++);
  ended.end();
  ended.hold();
  ended.resume();
  await pause(100);
  t.equal(came, 0);
  await new Promise<void>((over) => {
    const again = new Deadline(5, over);
    again.hold();
    again.resume();
  });
  t.pass('it came after it was resumed');
  held.end();
});

t.test('a processor budget ends what takes more than it may, and nothing that waits', async (t) => {
  let seconds = 0;
  let isOver = false;
  const over = new Promise<void>((resolve) => {
    const budget = new ProcessorBudget(
      10,
      () => seconds,
      () => {
        isOver = true;
        budget.end();
        resolve();
      },
    );
  });
  seconds = 10;
  await new Promise(setImmediate);
  t.notOk(isOver, 'ten seconds were used');
  seconds = 10.1;
  await over;
  t.ok(isOver);
});
