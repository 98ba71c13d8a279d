import t from 'tap';
import { ITEM_STATES, itemMayPass, movedItem } from '../../src/protocol/item.ts';
import type { Item } from '../../src/protocol/schema/items.ts';

t.test('an item takes every allowed step, and no other', async (t) => {
  const lawful = ['pending searchable', 'pending failed'];
  for (const from of ITEM_STATES) {
    for (const to of ITEM_STATES) {
      const item = { id: 'item_1', state: from } as Item;
      t.equal(itemMayPass(from, to), from === to || lawful.includes(`${from} ${to}`), `${from} to ${to}`);
      if (itemMayPass(from, to)) t.same(movedItem(item, to), { ...item, state: to });
      else t.throws(() => movedItem(item, to), /may not go/);
    }
  }
});
