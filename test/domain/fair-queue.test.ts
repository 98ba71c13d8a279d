import t from 'tap';
import { TurnQueue } from '../../src/domain/fair-queue.ts';

t.test('each tenant has its turn, and its own entries keep their order', async (t) => {
  const queue = new TurnQueue<string>(9);
  for (const entry of ['a1', 'a2', 'a3']) queue.push('a', entry);
  for (const entry of ['b1', 'b2']) queue.push('b', entry);
  t.equal(queue.size, 5);
  t.ok(queue.remove('a', 'a2'));
  t.notOk(queue.remove('a', 'a2'));
  t.notOk(queue.remove('c', 'c1'));
  const taken = [queue.take(), queue.take(), queue.take(), queue.take(), queue.take()];
  t.same(taken, ['a1', 'b1', 'a3', 'b2', undefined]);
  t.equal(queue.size, 0);
});

t.test('a tenant that has all it may have is passed over until some of it is done', async (t) => {
  const queue = new TurnQueue<string>(2);
  for (const entry of ['a1', 'a2', 'a3', 'a4']) queue.push('a', entry);
  queue.push('b', 'b1');
  t.same([queue.take(), queue.take(), queue.take(), queue.take()], ['a1', 'b1', 'a2', undefined]);
  queue.done('b');
  t.equal(queue.take(), undefined, 'another’s end is not its own');
  queue.done('a');
  t.same([queue.take(), queue.take()], ['a3', undefined]);
  queue.done('a');
  t.equal(queue.take(), 'a4');
});
