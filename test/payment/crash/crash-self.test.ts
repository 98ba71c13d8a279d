import t from 'tap';
import { deep } from '../../rig/deep.ts';
import { noChain } from '../chain/chain.ts';
import { runCrashes } from './crash-run.ts';

/** `SELF=1 make crash KILLS=300` is the long run. */
const KILLS = deep(3, 30);
const SECONDS_MAX = 150;

t.test(
  `${KILLS} kills of a server that settles itself, on a chain that drops and reorganises: the books agree with it`,
  { skip: noChain ?? false },
  async (t) => {
    const seed = Date.now() % 2 ** 31;
    t.comment(`seed ${seed}: SELF=1 SEED=${seed} KILLS=${KILLS} make crash replays its choices`);
    const report = await runCrashes({ seed, kills: KILLS, clients: 4, self: true, secondsMax: SECONDS_MAX });
    t.comment(JSON.stringify(report));
    t.same(report.faults, []);
    t.ok(report.kills > 0 && report.charges > 0, 'servers died and money moved');
  },
);
