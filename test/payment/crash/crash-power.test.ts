import t from 'tap';
import { withoutEtcd } from '../../cluster/etcd-servers.ts';
import { withoutCutDisk } from '../../rig/cut-disk.ts';
import { deep } from '../../rig/deep.ts';
import { runCrashes } from './crash-run.ts';

/** Each a start of the server and a mount; `POWER=1 make crash` is the long run, with `ETCD=1` for the second. */
const CUTS = Number(process.env.CRASH_KILLS || deep(2, 10));
const SECONDS_MAX = Number(process.env.CRASH_SECONDS || 150);

const noDisk = await withoutCutDisk();
const places = {
  'a disk': { beyondDisk: undefined, skip: noDisk },
  'etcd, objects and a disk that lose it together': {
    beyondDisk: 'folder',
    skip: noDisk ?? withoutEtcd,
  },
} as const;

for (const [place, { beyondDisk, skip }] of Object.entries(places)) {
  t.test(
    `${CUTS} power cuts of ${place}: the books agree, and all uploads are found`,
    skip === undefined ? {} : { skip },
    async (t) => {
      const seed = Number(process.env.CRASH_SEED || Date.now() % 2 ** 31);
      t.comment(
        `seed ${seed}: ${beyondDisk ? 'ETCD=1 ' : ''}POWER=1 SEED=${seed} KILLS=${CUTS} make crash replays its choices`,
      );
      const report = await runCrashes({
        seed,
        kills: CUTS,
        clients: 4,
        secondsMax: SECONDS_MAX,
        beyondDisk,
        losesPower: true,
      });
      t.comment(JSON.stringify(report));
      t.same(report.faults, []);
      t.ok(report.kills > 0 && report.charges > 0, 'power was cut and money moved');
    },
  );
}
