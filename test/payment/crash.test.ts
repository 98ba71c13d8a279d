import t from 'tap';
import { runCrashes } from './crash/crash-run.ts';

/** Few here, because each costs a start of the server; `make crash KILLS=1000` is the long run. */
const KILLS = Number(process.env.CRASH_KILLS || 8);

t.test(
  `${KILLS} kills under paid traffic: three books agree, nobody is charged twice or for nothing`,
  async (t) => {
    const seed = Number(process.env.CRASH_SEED || Date.now() % 2 ** 31);
    t.comment(`seed ${seed}: SEED=${seed} KILLS=${KILLS} make crash replays its choices`);
    const report = await runCrashes({ seed, kills: KILLS, clients: 4 });
    t.comment(JSON.stringify(report));
    t.same(report.faults, []);
    t.equal(report.kills, KILLS);
    t.ok(report.charges > 0, 'money moved');
  },
);
