import t from 'tap';
import { FairQueue, type FairQueueOptions } from '../../src/domain/fair-queue.ts';

interface Entry {
  readonly name: string;
  cancelled?: boolean;
}

/** Entries are named after their Tenant, and a number. */
function queueOf(options: FairQueueOptions<Entry> = {}) {
  const queue = new FairQueue<Entry>(options);
  const tenantOf = ({ name }: Entry) => name.slice(0, 1);
  const push = (name: string): Entry | undefined => {
    const entry = { name };
    return queue.push(tenantOf(entry), entry) ? entry : undefined;
  };
  const take = (count: number, suits?: (entry: Entry) => boolean) =>
    Array.from({ length: count }, () => queue.take(suits)?.name);
  return { queue, push, take };
}

t.test('tenants are served in turn, and each one’s entries stay in order', async (t) => {
  const { queue, push, take } = queueOf();
  for (const name of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) push(name);
  t.equal(queue.size, 6);
  t.same(take(2), ['a1', 'b1']);
  push('d1');
  t.same(take(6), ['c1', 'a2', 'b2', 'd1', 'a3', undefined]);
  t.equal(queue.size, 0);
});

t.test('an entry can be taken out before its turn', async (t) => {
  const { queue, push, take } = queueOf();
  const [first, only] = [push('a1'), push('b1')];
  push('a2');
  t.ok(queue.remove('b', only!));
  t.notOk(queue.remove('b', only!));
  t.notOk(queue.remove('c', first!));
  t.ok(queue.remove('a', first!));
  t.equal(queue.size, 1);
  t.same(take(2), ['a2', undefined]);
});

t.test('a cancelled entry is dropped, and costs its tenant no turn', async (t) => {
  const { queue, push, take } = queueOf({ isCancelled: ({ cancelled }) => cancelled === true });
  const all = ['a1', 'a2', 'a3', 'b1', 'c1'].map(push);
  for (const index of [0, 1, 4]) all[index]!.cancelled = true;
  t.same(take(3), ['a3', 'b1', undefined]);
  t.equal(queue.size, 0);
});

t.test('a tenant with all the entries out that it may have waits until one is done', async (t) => {
  const { queue, push, take } = queueOf({ tenantTakenMax: 2 });
  for (const name of ['a1', 'a2', 'a3', 'a4', 'b1']) push(name);
  t.same(take(4), ['a1', 'b1', 'a2', undefined]);
  queue.done('b');
  t.same(take(1), [undefined], 'the end of another’s entry is not its own');
  queue.done('a');
  t.same(take(2), ['a3', undefined]);
  queue.done('a');
  t.same(take(1), ['a4']);
});

t.test('a tenant that is passed over keeps its turn', async (t) => {
  const { push, take } = queueOf();
  for (const name of ['a1', 'b1', 'b2', 'c1', 'a2']) push(name);
  t.same(
    take(3, ({ name }) => name !== 'a1'),
    ['b1', 'c1', 'b2'],
  );
  t.same(take(2), ['a1', 'a2']);
});

t.test('the rest of an entry comes before its tenant’s others, after the other tenants’ turns', async (t) => {
  const { queue, push, take } = queueOf({ waitingMax: 3 });
  for (const name of ['a1', 'a2', 'b1']) push(name);
  t.same(take(1), ['a1']);
  queue.putBack('a', { name: 'a1, rest' });
  t.equal(queue.size, 3);
  t.same(take(3), ['b1', 'a1, rest', 'a2']);
  queue.putBack('a', { name: 'a2, rest' });
  t.same(take(1), ['a2, rest'], 'also when nothing else of it waits');
});

t.test('the queue and each tenant’s part of it have bounds', async (t) => {
  const { queue, push, take } = queueOf({ waitingMax: 4, tenantWaitingMax: 3 });
  for (const name of ['a1', 'a2', 'a3']) t.ok(push(name));
  t.notOk(push('a4'), 'one tenant cannot fill it');
  t.ok(push('b1'));
  t.notOk(push('c1'), 'it is full');
  t.equal(queue.size, 4);
  take(1);
  t.ok(push('c1'));
  take(1);
  t.ok(push('a4'));
});

t.test('what waits can be taken out when the queue closes', async (t) => {
  const { queue, push, take } = queueOf();
  for (const name of ['a1', 'b1', 'a2']) push(name);
  take(1);
  t.same(new Set(queue.drain().map(({ name }) => name)), new Set(['b1', 'a2']));
  t.equal(queue.size, 0);
  t.same(take(1), [undefined]);
});
