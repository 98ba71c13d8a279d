import t from 'tap';
import { GroupCommit } from '../../../src/cluster/group-commit.ts';
import type { Lease } from '../../../src/cluster/lease.ts';
import { Membership } from '../../../src/cluster/membership.ts';
import { NODE_ROWS } from '../../../src/cluster/node-rows.ts';
import type { PeerCalls } from '../../../src/peers/peer-calls.ts';
import type { LoggedStore } from '../../../src/server/slot/logged-store.ts';
import { SharedSlots } from '../../../src/server/slot/shared-slots.ts';
import { MemoryKv } from '../../cluster/memory-kv.ts';

/** Slots are given up one after the other, to a server that takes none of them. */

const CLUSTER = 'handed';
const COUNT = 4;
const row = (weight: number, ready: boolean) => ({
  url: 'http://n',
  version: '1',
  weight,
  since: '',
  ready,
});

t.test('a slot that nobody takes holds up the others for a while, and not for ever', async (t) => {
  const kv = new MemoryKv();
  const lease = { id: '1', holds: true } as Lease;
  const common = { kv, cluster: CLUSTER, node: 'n1', lease, log: () => undefined };
  const membership = await Membership.join({ ...common, row: row(1, false), slots: COUNT, lookMs: 1 });
  const held = new Set<number>();
  let now = 0;
  const slots = new SharedSlots({
    ...common,
    membership,
    count: COUNT,
    calls: {} as PeerCalls,
    commits: new GroupCommit({ kv }),
    disk: {
      openState: async () => ({ close: async () => undefined }) as unknown as LoggedStore,
      keepIndexesAlone: async () => undefined,
      removeContent: async () => undefined,
    },
    kept: { enter: async () => undefined, leave: async () => undefined },
    slots: {
      enter: async (slot) => void held.add(slot),
      leave: async (slot) => void held.delete(slot),
    },
    onLost: (slot, error) => t.fail(`slot ${slot}: ${error}`),
    clock: { now: () => now, pause: () => new Promise(() => undefined) },
  });
  const until = async (isSo: () => boolean) => {
    while (!isSo()) await membership.looked;
  };
  await slots.start(async () => undefined);
  await until(() => held.size === COUNT);
  const key = NODE_ROWS.key(CLUSTER, 'n2');
  await kv.commit({ when: [], puts: [{ key, value: NODE_ROWS.format(row(1e9, true)) }] });
  await until(() => held.size === COUNT - 1);
  for (let look = 0; look < 20; look++) await membership.looked;
  t.equal(held.size, COUNT - 1, 'the others stay meanwhile');
  for (let left = COUNT - 2; left >= 0; left--) {
    now += 6000;
    await until(() => held.size <= left);
    t.equal(held.size, left);
  }
  await slots.close();
  await membership.close();
});
