import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { smallReader } from './small-reader.ts';

t.setTimeout(120_000);

t.test(
  'a reader that has nothing to do ends, and the next task starts another',
  process.platform === 'linux' ? {} : { skip: 'children of a process are listed on Linux' },
  async (t) => {
    const { reader, own } = smallReader(t, { idleMsMax: 50 });
    const body = readFileSync('samples/rocket.jpg');
    for (const task of ['first', 'second']) {
      await reader.perform({
        task: { task: 'picture', headerOnly: true },
        body,
        secondsMax: 60,
        onReply: () => undefined,
      });
      t.equal(own().length, 1, `the ${task} task has a process`);
      while (own().length > 0) await pause(10);
    }
  },
);

t.test('a process that a busy host does not start in time is nobody’s fault', async (t) => {
  const { reader } = smallReader(t, { startSecondsMax: 0.001 });
  const task = {
    task: { task: 'picture', headerOnly: true },
    secondsMax: 60,
    onReply: () => undefined,
  } as const;
  await t.rejects(reader.perform(task), { code: 'overloaded', retryAfterS: 30 });
});
