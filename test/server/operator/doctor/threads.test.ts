import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { threads } from '../../../../src/server/operator/doctor/threads.ts';

/** A process's cgroups, and the limits that lie under them. */
function host(folder: string, cgroups: string, limits: Record<string, string>): [string, string] {
  const mounted = join(folder, 'cgroup');
  for (const [path, limit] of Object.entries(limits)) {
    mkdirSync(dirname(join(mounted, path)), { recursive: true });
    writeFileSync(join(mounted, path), `${limit}\n`);
  }
  writeFileSync(join(folder, 'self'), cgroups);
  return [join(folder, 'self'), mounted];
}

t.test('the lowest limit of threads around the process is told, of either version', async (t) => {
  const own = host(join(t.testdir({ now: {}, older: {} }), 'now'), '0::/system.slice/farthing.service\n', {
    'system.slice/farthing.service/pids.max': '1024',
    'system.slice/pids.max': '300',
    'pids.max': 'max',
  });
  t.match(threads(...own), { state: 'ok', found: /300/ });
  const older = host(join(t.testdirName, 'older'), '4:memory:/a\n3:cpu,pids:/docker/x\n', {
    'pids/docker/x/pids.max': '99',
  });
  t.match(threads(...older), { state: 'ok', found: /99/ });
});
