import t from 'tap';
import { testExtractor } from '../../rig/readers.ts';
import { children } from './children.ts';
import '../../rig/teardown-order.ts';

t.setTimeout(120_000);

t.test(
  'readers that stand still accuse no file, and are replaced',
  process.platform === 'linux' ? {} : { skip: 'processor time of a process is read on Linux' },
  async (t) => {
    const { extractor } = testExtractor(t, { limits: { openSecondsMax: 1 } });
    const before = new Set(children());
    await extractor.warm();
    const readers = children().filter((pid) => !before.has(pid));
    t.ok(readers.length > 0);
    for (const pid of readers) process.kill(pid, 'SIGSTOP');
    await t.rejects(extractor.open('samples/tea.txt', {}), { code: 'overloaded', retryAfterS: 5 });
    t.match(await extractor.open('samples/tea.txt', {}), { mediaType: 'text/plain' });
  },
);
