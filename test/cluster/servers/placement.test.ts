import t from 'tap';
import { ranked } from '../../../src/cluster/members/placement.ts';

const SLOTS = Array.from({ length: 1000 }, (_, slot) => slot);
const nodes = (...ids: string[]) => ids.map((id) => ({ id, weight: 100 }));
const ownersAmong = (of: Parameters<typeof ranked>[1]) => SLOTS.map((slot) => ranked(slot, of)[0]!);

t.test('a node that goes leaves its slots to those that were second, and nothing else moves', async (t) => {
  for (const slot of SLOTS) {
    const [first, second] = ranked(slot, nodes('a', 'b', 'c', 'd'));
    const left = ranked(slot, nodes('a', 'b', 'd'))[0];
    t.equal(left, first === 'c' ? second : first);
  }
});

t.test('shares follow the weights', async (t) => {
  const owners = ownersAmong([
    { id: 'a', weight: 100 },
    { id: 'b', weight: 300 },
  ]);
  const share = owners.filter((id) => id === 'b').length / SLOTS.length;
  // Five standard deviations of 1,000 draws are .07.
  t.ok(Math.abs(share - 0.75) < 0.07, String(share));
});
