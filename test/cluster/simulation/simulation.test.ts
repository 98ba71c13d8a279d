import t from 'tap';
import { deep } from '../../rig/deep.ts';
import { type SimulationOptions, simulate } from './simulation.ts';

/**
 * Servers that share slots, over an engine with leases, in virtual time: they are killed, stand still, are cut off in one direction or
 * both, and give their slots away; the engine goes away; answers are late or lost. `SEEDS=10000` tries more, `SEED=7` one alone.
 */

t.setTimeout(3_600_000);

const SEEDS = Number(process.env.SEEDS ?? deep(60, 3000));
const FIRST = Number(process.env.SEED ?? 1);
const LAST = process.env.SEED === undefined ? SEEDS : FIRST;

t.test(
  'one chain a slot, nothing lost, nothing told that is not safe, and each slot is owned again',
  async (t) => {
    const sums = { answers: 0, acknowledged: 0, claims: 0 };
    const broken: string[] = [];
    for (let seed = FIRST; seed <= LAST; seed += 1) {
      const { violation, ...counts } = await simulate(seed);
      if (violation !== undefined) broken.push(`SEED=${seed}: ${violation}`);
      for (const name of ['answers', 'acknowledged', 'claims'] as const) sums[name] += counts[name];
    }
    t.same(broken, []);
    // It would find nothing if nothing happened.
    t.ok(sums.acknowledged > 50 * (LAST - FIRST + 1), `${JSON.stringify(sums)}`);
    t.ok(sums.claims > 8 * (LAST - FIRST + 1));
  },
);

t.test('the same seed gives the same run', async (t) => {
  t.same(await simulate(3), await simulate(3));
});

/** A fault, what is found then, and a seed soon after which it is: seeds before it find nothing, and take time. */
const PLANTED: readonly [SimulationOptions, RegExp, number][] = [
  [{ plant: 'writes without a fence' }, /written twice|in the log twice|forked|missing/, 1],
  [{ plant: 'takes a lost answer for a yes' }, /acknowledged and is lost|not in the log|missing|forked/, 1],
  [{ plant: 'answers without a lease' }, /answered by a former owner/, 12],
  [{ plant: 'answers before the log has it' }, /told and not in the log/, 1],
  [{ plant: 'claims without a lease' }, /with nobody|takes nothing/, 1],
  // Beyond the margin of the lease.
  [{ clockError: 0.6 }, /answered by a former owner/, 35],
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
