import { runClusterCrashes } from './cluster-run.ts';

/**
 * `make crash-cluster EVENTS=1000 SEED=7`: three nodes share their slots while they are killed, paused, restarted and lose their disks. Ends
 * with status 1 and the seed when the oracle finds a fault. CRASH_SECONDS: no event comes later. Needs `make etcd`.
 */

const events = Number(process.env.EVENTS || 100);
const seed = Number(process.env.SEED || Date.now() % 2 ** 31);
console.log(`seed ${seed}: SEED=${seed} replays the choices of this run`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
const started = performance.now();
const report = await runClusterCrashes({
  seed,
  events,
  clients: 4,
  ...(process.env.CRASH_SECONDS && { secondsMax: Number(process.env.CRASH_SECONDS) }),
  onEvent: (event, what) => {
    if (event % 10 === 0 || event === events)
      console.log(`  ${event} of ${events} events, the last: ${what}`);
  },
});
console.log(
  JSON.stringify({ ...report, seconds: Math.round((performance.now() - started) / 1000) }, null, 2),
);
process.exit(report.faults.length === 0 ? 0 : 1);
