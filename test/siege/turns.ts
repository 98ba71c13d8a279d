import { FairQueue } from '../../src/queues/fair-queue.ts';

/** How many entries of others one entry waited for, in the queues of this process. */
export interface Wait {
  readonly owner: string;
  readonly others: number;
}

interface Counted {
  taken: number;
  readonly ofOwners: Map<string, number>;
  readonly entered: Map<object, { readonly owner: string; readonly taken: number; readonly own: number }>;
}

/** Counts turns in every fair queue of this process, until it is called. @returns the waits of all entries, as they are taken */
export function countTurns(): { readonly waits: readonly Wait[]; readonly end: () => void } {
  const waits: Wait[] = [];
  const queues = new WeakMap<object, Counted>();
  const { enter, take } = FairQueue.prototype;
  const of = (queue: object): Counted => {
    const known = queues.get(queue) ?? { taken: 0, ofOwners: new Map(), entered: new Map() };
    queues.set(queue, known);
    return known;
  };
  FairQueue.prototype.enter = function (this: FairQueue<object>, owner, entry, cost) {
    const isIn = enter.call(this, owner, entry, cost);
    const { taken, ofOwners, entered } = of(this);
    if (isIn) entered.set(entry, { owner, taken, own: ofOwners.get(owner) ?? 0 });
    return isIn;
  };
  FairQueue.prototype.take = function (this: FairQueue<object>, ...given) {
    const entry = take.call(this, ...given);
    const counted = of(this);
    const since = entry && counted.entered.get(entry);
    if (entry) counted.taken += 1;
    if (!since) return entry;
    counted.entered.delete(entry);
    const own = counted.ofOwners.get(since.owner) ?? 0;
    waits.push({ owner: since.owner, others: counted.taken - 1 - since.taken - (own - since.own) });
    counted.ofOwners.set(since.owner, own + 1);
    return entry;
  };
  return { waits, end: () => Object.assign(FairQueue.prototype, { enter, take }) };
}
