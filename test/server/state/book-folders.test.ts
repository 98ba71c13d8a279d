import t from 'tap';
import { newId } from '../../../src/protocol/id.ts';
import { leadsTo } from '../../../src/server/state/book-folders.ts';

t.test('an id leads to one slot, and ids are spread evenly', async (t) => {
  t.equal(leadsTo('anything', 1), 0);
  t.equal(leadsTo(`ws_${'0'.repeat(32)}`, 128), 36, 'the same in every release');
  const counts = Array.from({ length: 16 }, () => 0);
  for (let count = 0; count < 16_000; count++) counts[leadsTo(newId('workspace'), 16)]! += 1;
  t.ok(
    counts.every((count) => count > 800 && count < 1200),
    String(counts),
  );
});
