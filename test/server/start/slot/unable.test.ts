import t from 'tap';
import { MemoryKv } from '../../../cluster/memory-kv.ts';
import { slotsInMemory } from './slots-in-memory.ts';

/** A server that cannot open a slot, or has other models than its cluster, leaves slots to others. */

const COUNT = 3;
const MINUTE = 60_000;

/** All slots are placed with the first of two servers. Slots that are added to a set cannot be opened at its server. */
async function startTwo(test: { fail: (message: string) => void }) {
  const clock = { now: 0 };
  const onLost = (slot: number, error: unknown) => test.fail(`slot ${slot}: ${error}`);
  const common = { kv: new MemoryKv(), count: COUNT, clock, onLost };
  const [broken, brokenAtSecond] = [new Set([1]), new Set<number>()];
  const failures = { count: 0 };
  const openFrom = (unreadable: Set<number>) => (slot: number) => {
    if (!unreadable.has(slot)) return;
    failures.count += 1;
    throw new Error('its file cannot be read');
  };
  const second = await slotsInMemory({ ...common, node: 'n2', open: openFrom(brokenAtSecond) });
  await second.until(() => second.held.size === COUNT);
  const first = await slotsInMemory({ ...common, node: 'n1', weight: 1e9, open: openFrom(broken) });
  const isWith = (own: readonly number[], others: readonly number[]) => () =>
    String([...first.held].sort()) === String(own) && String([...second.held].sort()) === String(others);
  return { clock, failures, broken, brokenAtSecond, first, second, isWith };
}

t.test('the next server has it meanwhile, and gives it back when it can be opened', async (t) => {
  const { clock, failures, broken, first, second, isWith } = await startTwo(t);
  // Time goes on, as slots are handed over.
  const within = async (milliseconds: number, isSo: () => boolean) => {
    const end = clock.now + milliseconds;
    while (!isSo() && clock.now < end) {
      clock.now += 100;
      await first.membership.looked;
      await second.membership.looked;
    }
    t.ok(isSo(), `${[...first.held]} and ${[...second.held]}`);
  };
  await within(20_000, isWith([0, 2], [1]));
  t.same(second.membership.view.nodes.get('n1')!.unable, [1], 'and says so');
  // It is tried again after a minute, and fails.
  clock.now += MINUTE;
  await within(20_000, () => failures.count === 2);
  await within(20_000, isWith([0, 2], [1]));
  broken.clear();
  clock.now += MINUTE;
  for (let look = 0; look < 20; look++) await first.membership.looked;
  t.same([...second.held], [1], 'now for twice as long');
  clock.now += MINUTE;
  await within(20_000, isWith([0, 1, 2], []));
  t.same(second.membership.view.nodes.get('n1')!.unable ?? [], []);
  await first.close();
  await second.close();
});

t.test('where no server can open it, the first one goes on trying', async (t) => {
  const { clock, broken, brokenAtSecond, first, second, isWith } = await startTwo(t);
  brokenAtSecond.add(1);
  const until = async (isSo: () => boolean) => {
    while (!isSo()) {
      clock.now += 100;
      await first.membership.looked;
    }
  };
  await until(() => first.held.size === 2 && second.held.size === 0);
  await until(() => second.membership.view.nodes.get('n2')!.unable !== undefined);
  broken.clear();
  const before = clock.now;
  await until(isWith([0, 1, 2], []));
  t.ok(clock.now - before < MINUTE, `within ${clock.now - before} ms`);
  await first.close();
  await second.close();
});

t.test('a server with other models takes no slots, even while nobody else is there', async (t) => {
  const common = { kv: new MemoryKv(), count: 3, clock: { now: 0 }, onLost: () => t.fail('a slot was lost') };
  const differing = await slotsInMemory({ ...common, node: 'n1', weight: 1e9, modelsDiffer: 'other models' });
  for (let look = 0; look < 10; look++) await differing.membership.looked;
  t.equal(differing.held.size, 0);
  const same = await slotsInMemory({ ...common, node: 'n2' });
  await same.until(() => same.held.size === 3);
  t.equal(differing.held.size, 0);
  await same.close();
  await differing.close();
});
