import { readdirSync, readFileSync } from 'node:fs';
import t from 'tap';
import { EXTRACT_LIMITS } from '../../../src/domain/document.ts';
import { WarmReader } from '../../../src/extract/process/warm-reader.ts';
import { children } from './children.ts';
import '../../rig/teardown-order.ts';

const NICENESS = 10;

/** Of each thread of a process: field 19 of proc_pid_stat(5), behind the name, which may hold spaces. */
function nicenessOfThreads(pid: number): number[] {
  const folder = `/proc/${pid}/task`;
  return readdirSync(folder).map((thread) => {
    const stat = readFileSync(`${folder}/${thread}/stat`, 'latin1');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]);
  });
}

t.test(
  'once it is open, all threads of a reader for ingests have its lower priority',
  process.platform === 'linux' ? {} : { skip: 'each thread has its own priority on Linux' },
  async (t) => {
    const before = new Set(children());
    const reader = new WarmReader({
      name: 'background',
      log: () => undefined,
      settings: {
        program: 'queries',
        languages: [],
        pictureSpec: undefined,
        limits: EXTRACT_LIMITS,
        scratch: t.testdir({}),
        niceness: NICENESS,
      },
    });
    t.teardown(() => reader.close());
    await reader.warm();
    const [pid, ...others] = children().filter((pid) => !before.has(pid));
    t.same(others, [], 'one process has started');
    const found = nicenessOfThreads(pid!);
    t.ok(found.length > 1, `it has ${found.length} threads`);
    t.same(new Set(found), new Set([NICENESS]));
  },
);
