import t from 'tap';
import { FairQueue, type FairQueueOptions, hasRoom } from '../../src/queues/fair-queue.ts';
import { Random } from '../rig/random.ts';

interface Entry {
  readonly name: string;
  cancelled?: boolean;
}

/** Entries are named after their owner, and a number. */
function queueOf(options: FairQueueOptions<Entry> = {}) {
  const queue = new FairQueue<Entry>(options);
  const ownerOf = ({ name }: Entry) => name.slice(0, 1);
  const out = new Map<string, Entry>();
  const enter = (name: string, cost?: number): Entry | undefined => {
    const entry = { name };
    return queue.enter(ownerOf(entry), entry, cost) ? entry : undefined;
  };
  const take = (count: number, suits?: (entry: Entry) => boolean) =>
    Array.from({ length: count }, () => {
      const entry = queue.take(suits);
      if (entry) out.set(entry.name, entry);
      return entry?.name;
    });
  const leave = (name: string, cost?: number) => queue.leave(out.get(name)!, cost);
  return { queue, enter, take, leave };
}

t.test('owners are served in turn, and each one’s entries stay in order', async (t) => {
  const { queue, enter, take } = queueOf();
  for (const name of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) enter(name);
  t.equal(queue.size, 6);
  t.same(take(2), ['a1', 'b1']);
  enter('d1');
  t.same(take(6), ['c1', 'd1', 'a2', 'b2', 'a3', undefined]);
  t.equal(queue.size, 0);
});

t.test('an entry can be taken out before its turn', async (t) => {
  const { queue, enter, take } = queueOf();
  const [first, only] = [enter('a1'), enter('b1')];
  enter('a2');
  t.ok(queue.leave(only!));
  t.notOk(queue.leave(only!));
  t.ok(queue.leave(first!));
  t.equal(queue.size, 1);
  t.same(take(2), ['a2', undefined]);
});

t.test('a cancelled entry is dropped, and costs its owner no turn', async (t) => {
  const { queue, enter, take } = queueOf({ isCancelled: ({ cancelled }) => cancelled === true });
  const all = ['a1', 'a2', 'a3', 'b1', 'c1'].map((name) => enter(name));
  for (const index of [0, 1, 4]) all[index]!.cancelled = true;
  t.same(take(3), ['a3', 'b1', undefined]);
  t.equal(queue.size, 0);
});

t.test('an owner with all the entries out that it may have waits until one is done', async (t) => {
  const { enter, take, leave } = queueOf({ ownerInsideMax: 2 });
  for (const name of ['a1', 'a2', 'a3', 'a4', 'b1']) enter(name);
  t.same(take(4), ['a1', 'b1', 'a2', undefined]);
  leave('b1');
  t.same(take(1), [undefined], 'the end of another’s entry is not its own');
  leave('a1');
  t.same(take(2), ['a3', undefined]);
  leave('a2');
  t.same(take(1), ['a4']);
});

t.test('an owner that is passed over keeps its turn', async (t) => {
  const { enter, take } = queueOf();
  for (const name of ['a1', 'b1', 'b2', 'c1', 'a2']) enter(name);
  t.same(
    take(3, ({ name }) => name !== 'a1'),
    ['b1', 'c1', 'b2'],
  );
  t.same(take(2), ['a1', 'a2']);
});

t.test('the rest of an entry comes before its owner’s others, after the other owners’ turns', async (t) => {
  const { queue, enter, take } = queueOf();
  for (const name of ['a1', 'a2', 'b1']) enter(name);
  t.same(take(1), ['a1']);
  queue.enterAgain('a', { name: 'a1, rest' });
  t.equal(queue.size, 3);
  t.same(take(3), ['b1', 'a1, rest', 'a2']);
  queue.enterAgain('a', { name: 'a2, rest' });
  t.same(take(1), ['a2, rest'], 'also when nothing else of it waits');
});

t.test('an owner’s newest entry may go before its oldest', async (t) => {
  const { enter, take } = queueOf({ newestFirst: ({ name }) => name === 'a1' });
  for (const name of ['a1', 'a2', 'a3', 'b1', 'b2']) enter(name);
  t.same(take(5), ['a3', 'b1', 'a2', 'b2', 'a1']);
});

t.test('turns go by cost: one large entry counts as many small ones', async (t) => {
  const { enter, take } = queueOf();
  for (const name of ['a1', 'a2']) enter(name, 10);
  for (const name of ['b1', 'b2', 'b3', 'b4']) enter(name, 3);
  t.same(take(6), ['a1', 'b1', 'b2', 'b3', 'b4', 'a2']);
});

t.test(
  'what an entry has cost counts, not what was expected: who took long stands behind the others',
  async (t) => {
    const { enter, take, leave } = queueOf({ insideMax: 1 });
    for (const name of ['a1', 'a2', 'b1', 'b2', 'b3']) enter(name, 1);
    t.same(take(1), ['a1']);
    leave('a1', 20);
    for (const name of ['b1', 'b2', 'b3']) {
      t.same(take(1), [name]);
      leave(name, 1);
    }
    enter('c1');
    t.same(take(1), ['c1'], 'one that comes later goes before it, too');
    leave('c1', 1);
    t.same(take(1), ['a2'], 'and it goes on when nobody else waits');
  },
);

t.test(
  'what is quick comes first where owners have had as much; what is not waits for so much of it at most',
  async (t) => {
    const { enter, take, leave } = queueOf({ insideMax: 2, quickCost: 2 });
    enter('a1', 60);
    for (let number = 1; number <= 9; number++) enter(`b${number}`, 0.5);
    t.same(take(1), ['b1']);
    leave('b1');
    t.same(take(1), ['b2']);
    leave('b2');
    for (const name of ['b3', 'a1', 'b4']) {
      t.same(take(1), [name]);
      leave(name);
    }
    const other = queueOf({ quickCost: 2 });
    for (const name of ['a1', 'b1']) other.enter(name, 60);
    t.equal(other.queue.take(undefined, true), undefined, 'only what is quick');
    other.enter('c1', 1);
    t.equal(other.queue.take(undefined, true)?.name, 'c1');
    t.equal(other.queue.owners, 2);
  },
);

t.test(
  'owners that always have something waiting have the same, within an entry and what is quick',
  async (t) => {
    for (let seed = 1; seed <= 50; seed++) {
      const random = new Random(seed);
      const quickCost = random.below(10);
      const { queue, enter } = queueOf({ quickCost });
      const costs = new Map<string, number>();
      const had = new Map<string, number>();
      let serial = 0;
      const more = (owner: string) => {
        const cost = 1 + random.below(owner === 'a' ? 40 : 8);
        const entry = enter(`${owner}${++serial}`, cost)!;
        costs.set(entry.name, cost);
      };
      for (const owner of ['a', 'b', 'c']) {
        more(owner);
        had.set(owner, 0);
      }
      for (let turn = 0; turn < 500; turn++) {
        const { name } = queue.take()!;
        const owner = name.slice(0, 1);
        had.set(owner, had.get(owner)! + costs.get(name)!);
        more(owner);
        const all = [...had.values()];
        if (Math.max(...all) - Math.min(...all) > 40 + quickCost) t.fail(`seed ${seed}: ${all}`);
      }
      t.pass();
    }
  },
);

t.test('an owner that was away has no more than its turn', async (t) => {
  const { enter, take } = queueOf();
  for (let number = 0; number < 5; number++) enter(`a${number}`);
  take(4);
  enter('b1');
  enter('b2');
  enter('b3');
  t.same(take(4), ['b1', 'a4', 'b2', 'b3']);
});

t.test('who is new comes once before one who waits, however little its first entry costs', async (t) => {
  const { enter, take, leave } = queueOf({ insideMax: 1 });
  enter('a1', 10);
  take(1);
  leave('a1', 10);
  for (const name of ['a2', 'b1', 'b2', 'c1', 'c2']) enter(name, 10);
  const taken: (string | undefined)[] = [];
  for (let turn = 0; turn < 5; turn++) {
    const [name] = take(1);
    taken.push(name);
    leave(name!, 1);
  }
  t.same(taken, ['b1', 'c1', 'a2', 'b2', 'c2']);
});

t.test('a place is kept for what is quick, by its size and by what its owner’s entries cost', async (t) => {
  const { enter, take, leave } = queueOf({ insideMax: 3, quickCost: 1 });
  for (const name of ['a1', 'b1', 'c1', 'd1']) enter(name, 60);
  t.same(take(3), ['a1', 'b1', undefined], 'however many are slow');
  enter('e1');
  t.same(take(1), [undefined], 'one of unknown size, whose owner is unknown, may be slow');
  enter('f1', 0.1);
  t.same(take(2), ['f1', undefined]);
  leave('f1', 0.1);
  enter('f2');
  t.same(take(1), ['f2'], 'its owner’s are quick');
  leave('f2', 60);
  enter('f3', 0.1);
  t.same(take(1), [undefined], 'its size was a lie');
  leave('a1', 60);
  t.same(take(2), ['e1', undefined], 'one of unknown size may be quick: it comes before large ones');
});

t.test('an owner may have as many waiting as there is room for, so that others find room', async (t) => {
  const { queue, enter, take } = queueOf({ waitingMax: 8 });
  const waits = (names: string[]) => names.filter((name) => enter(name));
  t.same(waits(['a1', 'a2', 'a3', 'a4', 'a5']), ['a1', 'a2', 'a3', 'a4'], 'one alone has half');
  t.same(waits(['b1', 'b2', 'b3']), ['b1', 'b2'], 'the next half of the rest');
  t.notOk(enter('a5'));
  t.same(waits(['c1', 'c2', 'd1', 'e1']), ['c1', 'd1'], 'then it is full');
  t.equal(queue.size, 8);
  t.same(take(1), ['a1']);
  t.notOk(enter('a5'), 'what becomes free is not for the owner of the most');
  t.ok(enter('e1'));
});

/** Places that are for owners that hold nothing. */
const firstsKept = (max: number) => Math.floor((max / 2) ** 0.75);

t.test('in whatever waves others come, an owner that holds nothing finds room', (t) => {
  for (const max of [1, 2, 6, 8, 16, 64, 100, 128, 500, 512, 1024]) {
    for (let seed = 1; seed <= 20; seed++) {
      const random = new Random(seed * max);
      const held = new Map<number, number>();
      let all = 0;
      const add = (owner: number): boolean => {
        const own = held.get(owner) ?? 0;
        if (!hasRoom(own, all, max)) return false;
        held.set(owner, own + 1);
        all += 1;
        return true;
      };
      for (let owner = 0; owner < 2 * max && all <= max; owner++) {
        const before = held.size;
        if (!add(owner)) {
          if (before < Math.max(1, firstsKept(max)))
            t.fail(`${max} places: refused beside ${before} owners that hold ${all}`);
          const [served] = [...held.keys()];
          all -= held.get(served!)!;
          held.delete(served!);
          continue;
        }
        // All it can have, or a few; others add what they can, and some of what waits is served.
        for (let more = seed % 2 === 0 ? max : random.below(8); more > 0 && add(owner); more--);
        for (const other of held.keys()) {
          const change = random.below(4);
          if (change === 0) while (add(other));
          if (change !== 1 || seed % 3 === 0) continue;
          all -= 1;
          const left = held.get(other)! - 1;
          if (left > 0) held.set(other, left);
          else held.delete(other);
        }
      }
      t.ok(all <= max);
    }
  }
  t.end();
});

t.test('what waits can be taken out when the queue closes', async (t) => {
  const { queue, enter, take } = queueOf();
  for (const name of ['a1', 'b1', 'a2']) enter(name);
  take(1);
  t.same(new Set(queue.drain().map(({ name }) => name)), new Set(['b1', 'a2']));
  t.equal(queue.size, 0);
  t.same(take(1), [undefined]);
});
