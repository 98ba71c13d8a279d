import t from 'tap';
import { withoutEtcd } from '../../cluster/etcd-servers.ts';
import { deep } from '../../rig/deep.ts';
import { runCrashes } from './crash-run.ts';

const KILLS = Number(process.env.CRASH_KILLS || deep(3, 30));
const SECONDS_MAX = Number(process.env.CRASH_SECONDS || 150);

t.test(
  `${KILLS} kills with books in an etcd that falters and content in objects, and the server's whole disk lost each time: the books agree, and all uploads are found`,
  withoutEtcd === undefined ? {} : { skip: withoutEtcd },
  async (t) => {
    const seed = Number(process.env.CRASH_SEED || Date.now() % 2 ** 31);
    t.comment(`seed ${seed}: ETCD=1 SEED=${seed} KILLS=${KILLS} make crash replays its choices`);
    const report = await runCrashes({
      seed,
      kills: KILLS,
      clients: 4,
      secondsMax: SECONDS_MAX,
      beyondDisk: 'folder',
    });
    t.comment(JSON.stringify(report));
    t.same(report.faults, []);
    t.ok(report.kills > 0 && report.charges > 0, 'servers died and money moved');
    t.not(Object.keys(report.etcdFaults).length, 0, 'members stood still or died, or connections were cut');
  },
);
