import { join } from 'node:path';
import t from 'tap';
import { openStore } from '../../src/state/store.ts';
import { type Teardown, temporaryFolder } from '../rig/temporary-folder.ts';

/** Longer than LMDB accepts. */
const KEY_TOO_LONG = 'k'.repeat(5000);

function open(t: Teardown) {
  const store = openStore(join(temporaryFolder(t), 'state'));
  t.teardown(() => store.close());
  return { store, table: store.table<number>('numbers') };
}

for (const [what, throws] of [
  ['throws', true],
  ['writes what LMDB refuses', false],
] as const) {
  t.test(`a transaction that ${what} writes nothing, and those beside it are not touched`, async (t) => {
    const { store, table } = open(t);
    const [before, failed, after] = await Promise.allSettled([
      store.transaction(() => void table.put('before', 1)),
      store.transaction(() => {
        table.put('within', 1);
        if (throws) throw new Error('mine');
        table.put(KEY_TOO_LONG, 2);
      }),
      store.transaction(() => void table.put('after', 1)),
    ]);
    t.same([before.status, failed.status, after.status], ['fulfilled', 'rejected', 'fulfilled']);
    t.same(
      [...table.range()].map(({ key }) => key),
      ['after', 'before'],
    );
  });
}

t.test('a value is read by later work of the same transaction, and of the next', async (t) => {
  const { store, table } = open(t);
  const seen = await store.transaction(() => {
    table.put('a', 1);
    return table.get('a');
  });
  t.equal(seen, 1);
  t.equal(table.get('a'), 1);
});
