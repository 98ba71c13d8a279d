import t from 'tap';
import { NODE_ROWS } from '../../../../src/cluster/members/node-rows.ts';
import { MemoryKv } from '../../../cluster/memory-kv.ts';
import { MEMORY_CLUSTER, rowInMemory, slotsInMemory } from './slots-in-memory.ts';

/** Slots are given up one after the other, to a server that takes none of them. */

const COUNT = 4;

t.test('a slot that nobody takes holds up the others for a while, and not for ever', async (t) => {
  const kv = new MemoryKv();
  const clock = { now: 0 };
  const onLost = (slot: number, error: unknown) => t.fail(`slot ${slot}: ${error}`);
  const { held, membership, until, close } = await slotsInMemory({
    kv,
    node: 'n1',
    count: COUNT,
    clock,
    onLost,
  });
  await until(() => held.size === COUNT);
  const key = NODE_ROWS.key(MEMORY_CLUSTER, 'n2');
  const row = rowInMemory({ weight: 1e9, ready: true });
  await kv.commit({ when: [], puts: [{ key, value: NODE_ROWS.format(row) }] });
  await until(() => held.size === COUNT - 1);
  for (let look = 0; look < 20; look++) await membership.looked;
  t.equal(held.size, COUNT - 1, 'the others stay meanwhile');
  for (let left = COUNT - 2; left >= 0; left--) {
    clock.now += 6000;
    await until(() => held.size <= left);
    t.equal(held.size, left);
  }
  await close();
});
