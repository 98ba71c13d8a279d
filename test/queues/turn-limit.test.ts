import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import { TurnLimit } from '../../src/queues/turn-limit.ts';

/** Enters for each owner, in this order. @returns the owners that have begun, in the order of their turns */
function enterAll(limit: TurnLimit, owners: readonly string[]) {
  const begun: string[] = [];
  const all = owners.map((owner) => limit.enter(owner).then(() => void begun.push(owner)));
  return { begun, all: Promise.all(all) };
}

t.test('so much begins in each turn of the event loop, and owners take turns', async (t) => {
  const { begun } = enterAll(new TurnLimit(3), ['a', 'a', 'a', 'a', 'a', 'a', 'b']);
  const turns: string[] = [];
  for (let turn = 0; turn < 4; turn++) {
    await null;
    turns.push(begun.splice(0).join(' '));
    await nextTurn();
  }
  t.same(turns, ['a a a', 'a b a', 'a', '']);
});

t.test('with a pause between turns nothing begins at once', async (t) => {
  let pauseMs = 1;
  const limit = new TurnLimit(1, () => pauseMs);
  const { begun, all } = enterAll(limit, ['many', 'many', 'many', 'one']);
  await null;
  t.same(begun, []);
  await all;
  t.same(begun, ['many', 'one', 'many', 'many']);
  pauseMs = 0;
  await limit.enter('later');
});
