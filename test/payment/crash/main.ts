import { withoutCutDisk } from '../../rig/cut-disk.ts';
import { runCrashes } from './crash-run.ts';

/**
 * `make crash KILLS=1000 SEED=7`: ends with status 1 and the seed when the oracle finds the books different. CRASH_SECONDS: no kill begins later.
 * ETCD=1: the books are in a three-node etcd (`make etcd`) and content in a folder of objects, with OBJECTS=garage in a bucket (`make garage`);
 * the server's whole data folder is deleted after each kill. Members of etcd, its leader too, stand still or are killed at random, and a relay
 * delays, loses answers and cuts connections. POWER=1 (as root): each kill is a power cut of the disk that all of it lies on. NODES=2 with ETCD=1: two nodes
 * take turns, each on its own disk, and nothing is deleted. PREPAID=1: half the clients pay in advance, whatever the seed. SELF=1: the server settles itself, on a chain that drops and reorganises transactions.
 */

const noDisk = process.env.POWER === undefined ? undefined : await withoutCutDisk();
if (noDisk !== undefined) {
  console.error(`POWER=1 ${noDisk}`);
  process.exit(3);
}
const kills = Number(process.env.KILLS || 1000);
const seed = Number(process.env.SEED || Date.now() % 2 ** 31);
console.log(`seed ${seed}: SEED=${seed} replays the choices of this run`);
// The server is in a process group of its own, which a terminal's interrupt does not reach.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
const started = performance.now();
const report = await runCrashes({
  seed,
  kills,
  clients: 4,
  self: process.env.SELF !== undefined,
  prepays: process.env.PREPAID !== undefined,
  ...(process.env.ETCD !== undefined && {
    beyondDisk: process.env.OBJECTS === 'garage' ? ('garage' as const) : ('folder' as const),
  }),
  losesPower: process.env.POWER !== undefined,
  twoNodes: process.env.NODES === '2',
  ...(process.env.CRASH_SECONDS && { secondsMax: Number(process.env.CRASH_SECONDS) }),
  onKill: (kill, moment) => {
    if (kill % 10 === 0 || kill === kills) console.log(`  ${kill} of ${kills} kills, the last at ${moment}`);
  },
});
console.log(
  JSON.stringify({ ...report, seconds: Math.round((performance.now() - started) / 1000) }, null, 2),
);
process.exit(report.faults.length === 0 ? 0 : 1);
