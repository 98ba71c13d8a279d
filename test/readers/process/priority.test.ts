import { readdirSync, readFileSync } from 'node:fs';
import t from 'tap';
import { smallReader } from './small-reader.ts';

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
    const { reader, own } = smallReader(t, { niceness: NICENESS });
    await reader.warm();
    const [pid, ...others] = own();
    t.same(others, [], 'one process has started');
    const found = nicenessOfThreads(pid!);
    t.ok(found.length > 1, `it has ${found.length} threads`);
    t.same(new Set(found), new Set([NICENESS]));
  },
);
