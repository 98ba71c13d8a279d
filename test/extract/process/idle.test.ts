import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { EXTRACT_LIMITS } from '../../../src/domain/document.ts';
import { WarmReader } from '../../../src/extract/process/warm-reader.ts';
import { children } from './children.ts';
import '../../rig/teardown-order.ts';

t.setTimeout(120_000);

t.test(
  'a reader that has nothing to do ends, and the next task starts another',
  process.platform === 'linux' ? {} : { skip: 'children of a process are listed on Linux' },
  async (t) => {
    const before = new Set(children());
    const own = (): number[] => children().filter((pid) => !before.has(pid));
    const reader = new WarmReader({
      name: 'idle',
      log: () => undefined,
      idleMsMax: 50,
      settings: {
        program: 'queries',
        languages: [],
        pictureSpec: undefined,
        limits: EXTRACT_LIMITS,
        scratch: t.testdir({}),
        niceness: 0,
      },
    });
    t.teardown(() => reader.close());
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
