import t from 'tap';
import { deep } from '../../rig/deep.ts';
import { runCrashes } from './crash-run.ts';

/** Each costs a start of the server, about a second; `make crash KILLS=1000` is the long run. */
const KILLS = Number(process.env.CRASH_KILLS || deep(4, 30));
/** On a machine that is busy with other things a kill takes many seconds: then there are fewer, and the comment says how many. */
const SECONDS_MAX = Number(process.env.CRASH_SECONDS || 150);

t.test(
  `${KILLS} kills under paid traffic: three books agree, nobody is charged twice or for nothing`,
  async (t) => {
    const seed = Number(process.env.CRASH_SEED || Date.now() % 2 ** 31);
    t.comment(`seed ${seed}: SEED=${seed} KILLS=${KILLS} make crash replays its choices`);
    const report = await runCrashes({ seed, kills: KILLS, clients: 4, secondsMax: SECONDS_MAX });
    t.comment(JSON.stringify(report));
    if (report.kills < KILLS)
      t.comment(`${report.kills} kills: the others did not fit into ${SECONDS_MAX} s`);
    t.same(report.faults, []);
    t.ok(report.kills > 0 && report.charges > 0, 'servers died and money moved');
  },
);
