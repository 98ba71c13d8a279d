import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import { OutgoingPieces } from '../../../../src/server/http/exchange/outgoing.ts';

t.test('eight pieces of stored files are written in a turn, and owners take turns', async (t) => {
  const outgoing = new OutgoingPieces();
  const begun: string[] = [];
  const ask = (owner: string) => void outgoing.next(owner).then(() => begun.push(owner));
  for (let piece = 0; piece < 20; piece++) ask('many');
  ask('one');
  await null;
  const seen = [begun.splice(0)];
  while (seen.at(-1)!.length > 0) {
    await nextTurn();
    seen.push(begun.splice(0));
  }
  t.same(
    seen.map((owners) => owners.length),
    [8, 8, 5, 0],
  );
  t.equal(seen[1]![1], 'one');
});
