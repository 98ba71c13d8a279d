import type { Shard } from '@farthing/engine/shard/shard';

/** Work that may be broken off. */
interface Stoppable {
  readonly isStopped: boolean;
}

/** Work was broken off: its slot is taken over, or its Tenant ends. */
class StoppedError extends Error {}

/** An index whose filling is broken off between two writes. @throws StoppedError from then on */
export function stoppable(shard: Shard, work: Stoppable): Shard {
  const go = () => {
    if (work.isStopped) throw stopped();
  };
  return {
    ...shard,
    append: async (item, segments, replaces) => {
      go();
      await shard.append(item, segments, replaces);
    },
    putItem: async (item) => {
      go();
      await shard.putItem(item);
    },
    addAlias: async (id, name) => {
      go();
      return shard.addAlias(id, name);
    },
    removeItem: async (id) => {
      go();
      return shard.removeItem(id);
    },
  };
}

/** Why it is broken off. */
export function stopped(): Error {
  return new StoppedError('the slot is taken over, or the Tenant ends');
}
