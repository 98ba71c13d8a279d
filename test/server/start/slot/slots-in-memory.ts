import type { LoggedStore } from '../../../../src/cluster/log/logged-store.ts';
import { Membership } from '../../../../src/cluster/members/membership.ts';
import type { NodeRow } from '../../../../src/cluster/members/node-rows.ts';
import { SharedSlots } from '../../../../src/cluster/ownership/shared-slots.ts';
import type { PeerCalls } from '../../../../src/cluster/peers/peer-calls.ts';
import { GroupCommit } from '../../../../src/cluster/stores/group-commit.ts';
import type { Lease } from '../../../../src/cluster/stores/lease.ts';
import type { MemoryKv } from '../../../cluster/memory-kv.ts';

const CLUSTER = 'memory';

export interface InMemoryOptions {
  readonly kv: MemoryKv;
  readonly node: string;
  readonly count: number;
  /** 1 unless it is given. */
  readonly weight?: number;
  readonly clock: { now: number };
  readonly onLost: (slot: number, error: unknown) => void;
  /** Of its disk; throws where it cannot be opened. */
  readonly open?: (slot: number) => void;
  readonly modelsDiffer?: string;
}

/** A server's slots over a store in memory, with nothing in them. Time stands still until it is set. */
export async function slotsInMemory({
  kv,
  node,
  count,
  weight = 1,
  clock,
  onLost,
  open = () => undefined,
  modelsDiffer,
}: InMemoryOptions) {
  const lease = { id: node, holds: true } as Lease;
  const common = { kv, cluster: CLUSTER, node, lease, log: () => undefined };
  const row = rowInMemory({ weight, ready: false });
  const membership = await Membership.join({ ...common, row, slots: count, lookMs: 1 });
  const held = new Set<number>();
  const slots = new SharedSlots({
    ...common,
    membership,
    modelsDiffer,
    count,
    calls: {} as PeerCalls,
    commits: new GroupCommit({ kv }),
    disk: {
      openState: async (slot) => {
        open(slot);
        return { close: async () => undefined } as unknown as LoggedStore;
      },
      keepIndexesAlone: async () => undefined,
      removeContent: async () => undefined,
    },
    kept: { enter: async () => undefined, leave: async () => undefined },
    slots: {
      enter: async (slot) => void held.add(slot),
      leave: async (slot) => void held.delete(slot),
    },
    onLost,
    clock: { now: () => clock.now, pause: () => new Promise(() => undefined) },
  });
  await slots.start(async () => undefined);
  return {
    held,
    membership,
    /** Resolves once it is so at a look. */
    until: async (isSo: () => boolean) => {
      while (!isSo()) await membership.looked;
    },
    close: async () => {
      await slots.close();
      await membership.close();
    },
  };
}

export function rowInMemory(of: Pick<NodeRow, 'weight' | 'ready'>): NodeRow {
  return { url: 'http://n', version: '1', since: '', ...of };
}

export { CLUSTER as MEMORY_CLUSTER };
