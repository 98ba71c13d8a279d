import t from 'tap';
import { ITEM_STATES, itemMayPass, movedItem } from '../../src/protocol/item.ts';
import { itemOf } from '../engine/shard/fixtures.ts';

t.test('an item takes every allowed step, and no other', async (t) => {
  const lawful = ['pending searchable', 'pending failed'];
  for (const from of ITEM_STATES) {
    for (const to of ITEM_STATES) {
      const item = itemOf('item_1', { state: from });
      t.equal(itemMayPass(from, to), from === to || lawful.includes(`${from} ${to}`), `${from} to ${to}`);
      if (itemMayPass(from, to)) t.same(movedItem(item, to), { ...item, state: to });
      else t.throws(() => movedItem(item, to), /may not go/);
    }
  }
});
