import t from 'tap';
import { withoutEtcd } from '../../cluster/etcd-servers.ts';
import { deep } from '../../rig/deep.ts';
import { runClusterCrashes } from './cluster-run.ts';

const EVENTS = Number(process.env.CRASH_KILLS || deep(3, 20));
const SECONDS_MAX = Number(process.env.CRASH_SECONDS || 150);

t.test(
  `${EVENTS} times a node of three that share their slots is killed, paused, restarted or loses its disk while etcd falters: the books agree, and all uploads are found`,
  withoutEtcd === undefined ? {} : { skip: withoutEtcd },
  async (t) => {
    const seed = Number(process.env.CRASH_SEED || Date.now() % 2 ** 31);
    t.comment(`seed ${seed}: SEED=${seed} EVENTS=${EVENTS} make crash-cluster replays its choices`);
    const report = await runClusterCrashes({ seed, events: EVENTS, clients: 4, secondsMax: SECONDS_MAX });
    t.comment(JSON.stringify(report));
    t.same(report.faults, []);
    t.ok(Object.keys(report.events).length > 0 && report.charges > 0, 'something happened and money moved');
  },
);
