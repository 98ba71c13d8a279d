import t from 'tap';
import { AdaptiveLimit } from '../../src/queues/adaptive-limit.ts';

const MOST = 64;

/** Milliseconds until a peer answers a call that is made now. */
type Peer = (now: number) => number;

/** A peer that takes one call after the other. */
function oneByOne(eachMs: number): Peer {
  let free = 0;
  return (now) => {
    free = Math.max(free, now) + eachMs;
    return free - now;
  };
}

/** Makes calls of a peer on a clock of its own, as many at a time as are wanted and the limit lets. @returns the limit in the end */
async function limitAfter(calls: number, peer: Peer, wanted = MOST): Promise<number> {
  let now = 0;
  const limit = new AdaptiveLimit(MOST, () => now);
  const inside: { readonly at: number; readonly answer: () => Promise<void> }[] = [];
  const begin = () => {
    let answered!: () => void;
    const measured = limit.measured(
      () =>
        new Promise<void>((resolve) => {
          answered = resolve;
        }),
    );
    const answer = () => {
      answered();
      return measured;
    };
    inside.push({ at: now + peer(now), answer });
  };
  for (let made = 0; made < calls; made += 1) {
    while (inside.length < Math.min(wanted, limit.value)) begin();
    inside.sort((one, other) => one.at - other.at);
    const next = inside.shift()!;
    now = next.at;
    await next.answer();
  }
  return limit.value;
}

t.test('a peer that takes one call after the other gets few at a time', async (t) => {
  for (const eachMs of [1, 4, 100]) t.ok((await limitAfter(500, oneByOne(eachMs))) <= 4, `${eachMs} ms each`);
});

t.test('a peer that is no slower for many calls gets as many as are wanted', async (t) => {
  t.equal(await limitAfter(500, () => 100), MOST);
  let calls = 0;
  const uneven: Peer = () => {
    calls += 1;
    return 100 + 40 * (calls % 2);
  };
  t.equal(await limitAfter(500, uneven), MOST, 'also when it is uneven');
});

t.test('a limit that nobody reaches does not grow', async (t) => {
  t.ok((await limitAfter(500, () => 100, 1)) <= 4);
});

t.test('a peer that has become slower for good gets more again, hours later', async (t) => {
  let eachMs = 1;
  let calls = 0;
  const slower: Peer = () => {
    calls += 1;
    if (calls > 100) eachMs = 20_000;
    return eachMs;
  };
  t.equal(await limitAfter(6000, slower), MOST);
});

t.test('a call that fails is one that has ended', async (t) => {
  const limit = new AdaptiveLimit(2, () => 0);
  await t.rejects(
    limit.measured(() => Promise.reject(new Error('no answer'))),
    /no answer/,
  );
  t.equal(limit.value, 2);
});
