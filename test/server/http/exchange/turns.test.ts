import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import {
  OVERLOADED_AFTER_MS,
  OVERLOADED_WAIT_MS_MAX,
  Turns,
  WAIT_MS_MAX,
} from '../../../../src/server/http/exchange/turns.ts';

/** Requests that come in one turn of the event loop, and in which later turn each begins. */
function queued(turns: Turns, senders: readonly string[]): string[] {
  const begun: string[] = [];
  for (const sender of senders) void turns.next(sender).then(() => begun.push(sender));
  return begun;
}

t.test('sixteen requests without credentials begin in a turn, and four with', async (t) => {
  for (const [address, most] of [
    [undefined, 16],
    ['somewhere', 4],
  ] as const) {
    const turns = new Turns();
    const places = Array.from({ length: 20 }, () => turns.place(address));
    t.same(places.slice(0, most - 1), Array(most - 1).fill('now'));
    t.equal(places[most - 1], 'last');
    t.same(new Set(places.slice(most)), new Set(['later']));
  }
});

t.test('whether requests with credentials may be of one read is known for each turn', async (t) => {
  const turns = new Turns();
  for (const [address, isOne] of [
    ['here', true],
    [undefined, true],
    ['here', true],
    ['there', false],
    ['here', false],
  ] as const) {
    turns.place(address);
    t.equal(turns.isOfOneAddress, isOne);
  }
  await nextTurn();
  turns.place('there');
  t.ok(turns.isOfOneAddress);
});

t.test('of those that wait, two of one sender begin in a turn, and eight in all', async (t) => {
  const turns = new Turns();
  turns.place();
  const begun = queued(turns, ['', '', '', '', '', '', 'payer', 'workspace', 'workspace', 'workspace']);
  const seen: string[][] = [];
  for (let turn = 0; turn < 3; turn++) {
    await nextTurn();
    seen.push(begun.splice(0));
  }
  t.same(seen, [
    ['', 'payer', 'workspace', '', 'workspace'],
    ['', 'workspace', ''],
    ['', ''],
  ]);
  const many = Array.from({ length: 20 }, (_, index) => `workspace ${index}`);
  const others = new Turns();
  others.place();
  const first = queued(others, many);
  await nextTurn();
  t.same(first, many.slice(0, 8));
});

t.test('a request passes none that waits', async (t) => {
  const turns = new Turns();
  turns.place();
  queued(turns, ['', '', '']);
  t.equal(turns.place(), 'later');
  await nextTurn();
  t.equal(turns.place(), 'later', 'one still waits');
  await nextTurn();
  t.equal(turns.place(), 'now');
});

t.test('a request with credentials that waited too long is refused, and delays none', async (t) => {
  let now = 0;
  const turns = new Turns(() => now);
  turns.place();
  const begun: string[] = [];
  const refused: unknown[] = [];
  const ask = (name: string, sender: string) =>
    void turns.next(sender, sender !== '').then(
      () => begun.push(name),
      ({ code, retryAfterS }) => refused.push([name, code, retryAfterS]),
    );
  for (let index = 0; index < 70; index++) ask(`early ${index}`, 'payer');
  ask('probe', '');
  now = WAIT_MS_MAX;
  ask('late', 'payer');
  now += 1;
  await nextTurn();
  t.same([refused.length, begun], [64, ['probe']], 'a turn refuses so many, and none without credentials');
  await nextTurn();
  t.same([refused.length, begun], [70, ['probe', 'late']]);
  t.same(refused[0], ['early 0', 'overloaded', 1]);
  ask('in time', 'payer');
  now += WAIT_MS_MAX;
  await nextTurn();
  t.same(begun, ['probe', 'late', 'in time'], 'that is the longest');
});

t.test(
  'a sender whose line does not empty has its newest requests answered, and its old ones refused early',
  async (t) => {
    let now = 0;
    const turns = new Turns(() => now);
    turns.place();
    const begun: number[] = [];
    const refused: number[] = [];
    const ask = (sender: string) => {
      const since = now;
      turns.next(sender, sender !== '').then(
        () => begun.push(since),
        () => refused.push(since),
      );
    };
    // Each turn takes 20 ms, and five come while two begin.
    while (now <= OVERLOADED_AFTER_MS + 20) {
      for (let index = 0; index < 5; index++) ask('payer');
      now += 20;
      const before = begun.length;
      await nextTurn();
      t.ok(
        begun.slice(before).every((since) => now - since <= 80),
        `the newest, after ${now} ms`,
      );
    }
    t.ok(begun.length >= OVERLOADED_AFTER_MS / 10, 'two in each turn');
    await nextTurn();
    t.ok(refused.length > 60, 'those that waited for long');
    t.ok(refused.every((since) => now - since > OVERLOADED_WAIT_MS_MAX));
    for (let index = 0; index < 4; index++) ask('');
    now += OVERLOADED_AFTER_MS;
    const asked = begun.length;
    for (let turn = 0; turn < 40; turn++) await nextTurn();
    t.equal(
      begun.slice(asked).filter((since) => since === now - OVERLOADED_AFTER_MS).length,
      4,
      'without credentials all',
    );
  },
);

t.test('a burst is answered whole', async (t) => {
  let now = 0;
  const turns = new Turns(() => now);
  turns.place();
  const answers = Array.from({ length: 200 }, () => turns.next('payer', true));
  for (let turn = 0; turn < 100; turn++) {
    now += 9;
    await nextTurn();
  }
  t.equal((await Promise.all(answers)).length, 200);
});
