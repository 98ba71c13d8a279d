import t from 'tap';
import type { LoggedStore } from '../../../src/cluster/log/logged-store.ts';
import { Membership } from '../../../src/cluster/members/membership.ts';
import { SharedSlots } from '../../../src/cluster/ownership/shared-slots.ts';
import type { PeerCalls } from '../../../src/cluster/peers/peer-calls.ts';
import { GroupCommit } from '../../../src/cluster/stores/group-commit.ts';
import type { Lease } from '../../../src/cluster/stores/lease.ts';
import { MemoryKv } from '../memory-kv.ts';

const COUNT = 3;

t.test('a server with other models takes no slots, even while nobody else is there', async (t) => {
  const kv = new MemoryKv();
  const open = async (node: string, weight: number, modelsDiffer?: string) => {
    const common = {
      kv,
      cluster: 'memory',
      node,
      lease: { id: node, holds: true } as Lease,
      log: () => undefined,
    };
    const row = { url: 'http://n', version: '1', since: '', weight, ready: false };
    const membership = await Membership.join({ ...common, row, slots: COUNT, lookMs: 1 });
    const held = new Set<number>();
    const slots = new SharedSlots({
      ...common,
      membership,
      modelsDiffer,
      count: COUNT,
      calls: {} as PeerCalls,
      commits: new GroupCommit({ kv }),
      disk: {
        openState: async () => ({ close: async () => undefined }) as unknown as LoggedStore,
        keepIndexesAlone: async () => undefined,
        removeContent: async () => undefined,
      },
      kept: { enter: async () => undefined, leave: async () => undefined },
      slots: { enter: async (slot) => void held.add(slot), leave: async (slot) => void held.delete(slot) },
      onLost: () => t.fail('a slot was lost'),
      clock: { now: () => 0, pause: () => new Promise(() => undefined) },
    });
    await slots.start(async () => undefined);
    t.teardown(async () => {
      await slots.close();
      await membership.close();
    });
    return { held, membership };
  };
  const differing = await open('n1', 1e9, 'other models');
  for (let look = 0; look < 10; look++) await differing.membership.looked;
  t.equal(differing.held.size, 0);
  const same = await open('n2', 1);
  while (same.held.size < COUNT) await same.membership.looked;
  t.equal(differing.held.size, 0);
});
