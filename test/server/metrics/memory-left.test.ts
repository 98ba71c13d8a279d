import t from 'tap';
import { memoryLeft } from '../../../src/server/metrics/memory-left.ts';

const MACHINE = { '/proc/meminfo': 'MemTotal:       1000 kB\nMemFree:    10 kB\nMemAvailable:   600 kB\n' };
const STAT = 'anon 200000\ntotal_active_file 3\nactive_file 100000\ninactive_file 50000\n';
const V2 = { '/proc/self/cgroup': '0::/a.slice/farthing.service\n' };
const V1 = { '/proc/self/cgroup': '9:cpu,cpuacct:/\n4:memory:/docker/abc\n0::/\n' };
const under = (folder: string, files: Record<string, string>) =>
  Object.fromEntries(Object.entries(files).map(([name, text]) => [`${folder}/${name}`, text]));
const group = { 'memory.max': '400000\n', 'memory.current': '350000\n', 'memory.stat': STAT };

t.test('memory is that of the machine or of the cgroup, whichever is nearer to its end', async (t) => {
  const left = (files: Record<string, string>) => memoryLeft((path) => ({ ...MACHINE, ...files })[path]);
  const machine = { of: 'machine', limit: 1_024_000, left: 614_400 };
  const near = { of: 'cgroup', limit: 400_000, left: 200_000 };
  t.same(left({}), machine);
  t.same(left({ ...V2, ...under('/sys/fs/cgroup/a.slice/farthing.service', group) }), near);
  t.same(left({ ...V2, ...under('/sys/fs/cgroup', group) }), near, 'seen from within its container');
  t.same(
    left({ ...V2, ...under('/sys/fs/cgroup', { ...group, 'memory.max': 'max\n' }) }),
    machine,
    'no limit',
  );
  t.same(left({ ...V2, ...under('/sys/fs/cgroup', { ...group, 'memory.current': '160000' }) }), machine);
  const first = {
    'memory.limit_in_bytes': '400000',
    'memory.usage_in_bytes': '350000',
    'memory.stat': 'total_active_file 100000\ntotal_inactive_file 50000\nactive_file 1\n',
  };
  t.same(left({ ...V1, ...under('/sys/fs/cgroup/memory/docker/abc', first) }), near, 'the first version');
  const unlimited = { ...first, 'memory.limit_in_bytes': '9223372036854771712' };
  t.same(left({ ...V1, ...under('/sys/fs/cgroup/memory', unlimited) }), machine);
  const { left: here, limit } = memoryLeft();
  t.ok(here > 0 && here <= limit, 'on this machine');
});
