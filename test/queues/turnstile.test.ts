import t, { type Test } from 'tap';
import { Turnstile, type TurnstileLimits } from '../../src/queues/turnstile.ts';

const LIMITS: TurnstileLimits = {
  insideMax: 2,
  ownerInsideMax: 1,
  waitingMax: 6,
  waitMsMax: 600_000,
};

/** A turnstile, and calls that stay inside until they are let out. */
function openTurnstile(t: Test, limits: Partial<TurnstileLimits> = {}) {
  const test = new AbortController();
  t.teardown(() => test.abort());
  const turnstile = new Turnstile({ ...LIMITS, ...limits }, () => new Error('full'));
  const inside: { name: string; out: () => void }[] = [];
  const enter = (owner: string, name = owner, signal = test.signal) => {
    const work = () =>
      new Promise<string>((resolve) => {
        inside.push({ name, out: () => resolve(name) });
      });
    const passed = turnstile.pass(owner, work, { signal, left: () => new Error('left') });
    return passed.catch((error: Error) => error.message);
  };
  const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
  const names = async () => {
    await settled();
    return inside.map(({ name }) => name);
  };
  const letOut = async (name: string) => {
    const at = inside.findIndex((call) => call.name === name);
    inside.splice(at, 1)[0]!.out();
    return await names();
  };
  return { enter, names, letOut };
}

t.test('owners take turns, however many calls one of them has', async (t) => {
  const { enter, names, letOut } = openTurnstile(t);
  const calls = [enter('a', 'a1'), enter('a', 'a2'), enter('a', 'a3'), enter('b'), enter('c')];
  t.same(await names(), ['a1', 'b'], 'no owner has more than one inside');
  t.same(await letOut('a1'), ['b', 'c'], 'c, which had none, comes before the second of a');
  t.same(await letOut('b'), ['c', 'a2']);
  t.same(await letOut('c'), ['a2']);
  t.same(await letOut('a2'), ['a3']);
  t.same(await letOut('a3'), []);
  t.same(await Promise.all(calls), ['a1', 'a2', 'a3', 'b', 'c']);
});

t.test('the line is bounded, as a whole and for one owner', async (t) => {
  const { enter, names } = openTurnstile(t);
  void enter('a');
  void enter('b');
  for (const name of ['a2', 'a3', 'a4']) void enter('a', name);
  t.equal(await enter('a', 'a5'), 'full', 'as many of it wait as there is room for');
  for (const name of ['c', 'd', 'e']) void enter(name);
  t.equal(await enter('f'), 'full', 'six wait');
  t.same(await names(), ['a', 'b']);
});

t.test('whose client leaves, or who waits for too long, gives up the place', async (t) => {
  const { enter, names, letOut } = openTurnstile(t, { insideMax: 1 });
  void enter('a');
  const client = new AbortController();
  const left = enter('b', 'b', client.signal);
  void enter('c');
  client.abort();
  t.equal(await left, 'left');
  t.same(await letOut('a'), ['c']);
  t.same(await names(), ['c']);
  t.equal(await enter('d', 'd', client.signal), 'left');

  const impatient = openTurnstile(t, { insideMax: 1, waitMsMax: 1 });
  void impatient.enter('a');
  t.equal(await impatient.enter('b'), 'full');
  t.same(await impatient.letOut('a'), []);
});

t.test('work that fails leaves its place to the next', async (t) => {
  const turnstile = new Turnstile({ ...LIMITS, insideMax: 1 }, () => new Error('full'));
  const client = { signal: new AbortController().signal, left: () => new Error('left') };
  await t.rejects(
    turnstile.pass('a', () => Promise.reject(new Error('failed')), client),
    /failed/,
  );
  t.equal(await turnstile.pass('a', async () => 'done', client), 'done');
});
