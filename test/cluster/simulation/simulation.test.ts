import t from 'tap';
import { deep } from '../../rig/deep.ts';
import { type SimulationOptions, simulate } from './simulation.ts';

/**
 * Servers that share slots and follow each other's, over an engine with leases, in virtual time: they are killed, lose their disks, stand
 * still, are cut off in one direction or both, cannot open slots, and give theirs away; the engine goes away; answers are late or lost.
 * `SEEDS=10000` tries more, `FROM=5001 SEEDS=10000` the latter half of them, `SEED=7` one alone.
 */

t.setTimeout(3_600_000);

const SEEDS = Number(process.env.SEEDS ?? deep(20, 400));
const FIRST = Number(process.env.SEED ?? process.env.FROM ?? 1);
const LAST = process.env.SEED === undefined ? SEEDS : FIRST;

t.test(
  'one chain a slot, nothing lost, nothing told that is not safe, copies as their logs, each slot owned again',
  async (t) => {
    const sums = { answers: 0, acknowledged: 0, claims: 0, takeovers: 0, removals: 0 };
    const broken: string[] = [];
    for (let seed = FIRST; seed <= LAST; seed += 1) {
      const { violation, ...counts } = await simulate(seed);
      if (violation !== undefined) broken.push(`SEED=${seed}: ${violation}`);
      for (const name of Object.keys(counts) as (keyof typeof counts)[]) sums[name] += counts[name];
    }
    t.same(broken, []);
    // It would find nothing if nothing happened.
    t.ok(sums.acknowledged > 50 * (LAST - FIRST + 1), `${JSON.stringify(sums)}`);
    t.ok(sums.claims > 8 * (LAST - FIRST + 1));
    t.ok(sums.takeovers > 2 * (LAST - FIRST + 1), 'from copies that were followed');
    t.ok(sums.removals > 8 * (LAST - FIRST + 1));
    if (process.env.SEEDS !== undefined) t.comment(JSON.stringify({ first: FIRST, last: LAST, ...sums }));
  },
);

t.test('the same seed gives the same run', async (t) => {
  t.same(await simulate(3), await simulate(3));
});

/** A fault, what is found then, and a seed soon after which it is: seeds before it find nothing, and take time. */
const PLANTED: readonly [SimulationOptions, RegExp, number][] = [
  [{ plant: 'writes without a fence' }, /written twice|in the log twice|forked|missing/, 2],
  [{ plant: 'takes a lost answer for a yes' }, /acknowledged and is lost|not in the log|missing|forked/, 1],
  [{ plant: 'answers without a lease' }, /answered by a former owner/, 5],
  [{ plant: 'answers before the log has it' }, /told and not in the log/, 1],
  [{ plant: 'claims without a lease' }, /with nobody|takes nothing/, 2],
  [{ plant: 'goes on from a copy that it did not check' }, /not what its log says|log does not say/, 21],
  [{ plant: 'serves a copy without the rest of the log' }, /goes on from what its log does not say/, 1],
  [{ plant: 'goes on behind a snapshot that its copy lacks' }, /not what its log says/, 1],
  [{ plant: 'says of a copy that is there that it is removed' }, /the receipt says that it removed it/, 1],
  [{ plant: 'keeps a copy that it said was removed' }, /has content of .*, and the receipt/, 2],
  [{ plant: 'follows without saying so' }, /the receipt does not name it/, 1],
  [{ plant: 'does not say what it cannot open' }, /with nobody|takes nothing/, 1],
  // Beyond the margin of the lease.
  [{ clockError: 0.9 }, /answered by a former owner/, 7],
];
const SEEDS_FOR_A_FAULT = 200;

for (const [options, expected, first] of PLANTED) {
  const fault = options.plant === undefined ? 'clocks differ by too much' : `a server ${options.plant}`;
  t.test(`it is found that ${fault}`, async (t) => {
    let found = '';
    for (let seed = first; seed < first + SEEDS_FOR_A_FAULT && !expected.test(found); seed += 1)
      found = (await simulate(seed, options)).violation ?? '';
    t.match(found, expected);
  });
}
