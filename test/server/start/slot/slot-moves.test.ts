import t from 'tap';
import { SlotMoves } from '../../../../src/cluster/ownership/slot-moves.ts';

t.test('who waits for a slot is told once it is elsewhere, and not before', async (t) => {
  const places = ['a', 'a'];
  const moves = new SlotMoves((slot) => places[slot]!);
  const told: string[] = [];
  const wait = (slot: number, name: string) => void moves.moved(slot).then(() => told.push(name));
  wait(0, 'first');
  wait(0, 'second');
  wait(1, 'other');
  moves.look();
  await new Promise(setImmediate);
  t.same(told, []);
  places[0] = 'b';
  moves.look();
  await new Promise(setImmediate);
  t.same(told, ['first', 'second']);
  wait(0, 'late');
  moves.look();
  await new Promise(setImmediate);
  t.same(told, ['first', 'second'], 'from the place at which it is now');
  places[0] = 'a';
  moves.look();
  await new Promise(setImmediate);
  t.same(told, ['first', 'second', 'late']);
});
