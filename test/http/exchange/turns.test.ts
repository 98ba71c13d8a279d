import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import { Turns } from '../../../src/http/exchange/turns.ts';

/** Requests that come in one turn of the event loop, and in which later turn each begins. */
function queued(turns: Turns, senders: readonly string[]): string[] {
  const begun: string[] = [];
  for (const sender of senders) void turns.next(sender).then(() => begun.push(sender));
  return begun;
}

t.test('sixteen requests without credentials begin in a turn, and four with', async (t) => {
  for (const [hasCredentials, most] of [
    [false, 16],
    [true, 4],
  ] as const) {
    const turns = new Turns();
    const places = Array.from({ length: 20 }, () => turns.place(hasCredentials));
    t.same(places.slice(0, most - 1), Array(most - 1).fill('now'));
    t.equal(places[most - 1], 'last', 'the connection of the last ends');
    t.same(new Set(places.slice(most)), new Set(['later']));
  }
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
