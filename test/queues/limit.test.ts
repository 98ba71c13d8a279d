import t, { type Test } from 'tap';
import { Limit, type LimitOptions } from '../../src/queues/limit.ts';

/** A limit, and work that stays inside until it is let out. */
function openLimit(t: Test, options: Partial<LimitOptions> = {}) {
  const test = new AbortController();
  t.teardown(() => test.abort());
  const all = { insideMax: 2, ownerInsideMax: 1, waitingMax: 6, ...options };
  const limit = new Limit(all, () => new Error('full'));
  const inside: { name: string; out: (cost?: number) => void }[] = [];
  const enter = (owner: string, name = owner, signal = test.signal) =>
    limit
      .run(
        owner,
        (entered) =>
          new Promise<string>((resolve) => {
            const out = (cost?: number) => {
              if (cost !== undefined) entered.cost = cost;
              resolve(name);
            };
            inside.push({ name, out });
          }),
        { signal, left: () => new Error('left') },
      )
      .catch((error: Error) => error.message);
  const names = async () => {
    await new Promise(setImmediate);
    return inside.map(({ name }) => name);
  };
  const letOut = async (name: string, cost?: number) => {
    const at = inside.findIndex((work) => work.name === name);
    inside.splice(at, 1)[0]!.out(cost);
    return await names();
  };
  return { limit, enter, names, letOut };
}

t.test('work enters at once where there is room, and what waits is bounded', async (t) => {
  const { limit, enter, names } = openLimit(t);
  void enter('a');
  void enter('b');
  t.equal(limit.inside, 2);
  for (const name of ['a2', 'a3', 'a4']) void enter('a', name);
  t.equal(await enter('a', 'a5'), 'full', 'as much of it waits as there is room for');
  for (const name of ['c', 'd', 'e']) void enter(name);
  t.equal(await enter('f'), 'full', 'six wait');
  t.same(await names(), ['a', 'b']);
});

t.test('a bound that adapts holds from the next work on', async (t) => {
  const insideMax = { value: 1 };
  const { enter, letOut } = openLimit(t, { insideMax });
  for (const owner of ['a', 'b', 'c', 'd']) void enter(owner);
  insideMax.value = 2;
  t.same(await letOut('a'), ['b', 'c']);
  insideMax.value = 1;
  t.same(await letOut('b'), ['c']);
});

t.test('work leaves the queue when its client does, or it has waited for too long', async (t) => {
  const { enter, names, letOut } = openLimit(t, { insideMax: 1 });
  void enter('a');
  const client = new AbortController();
  const left = enter('b', 'b', client.signal);
  void enter('c');
  client.abort();
  t.equal(await left, 'left');
  t.same(await letOut('a'), ['c']);
  t.same(await names(), ['c']);
  t.equal(await enter('d', 'd', client.signal), 'left');

  const impatient = openLimit(t, { insideMax: 1, waitMsMax: 1 });
  void impatient.enter('a');
  t.equal(await impatient.enter('b'), 'full');
  t.same(await impatient.letOut('a'), []);
});

t.test('what waits is refused when the limit closes', async (t) => {
  const { limit, enter, letOut } = openLimit(t, { insideMax: 1 });
  const first = enter('a');
  const second = enter('b');
  limit.refuseWaiting(new Error('closed'));
  t.equal(await second, 'closed');
  t.same(await letOut('a'), []);
  t.equal(await first, 'a');
});

t.test('work that fails makes room for the next', async (t) => {
  const limit = new Limit({ insideMax: 1 }, () => new Error('full'));
  const failing = limit.run('a', () => Promise.reject(new Error('failed')));
  const next = limit.run('a', async () => 'done');
  await t.rejects(failing, /failed/);
  t.equal(await next, 'done');
});
