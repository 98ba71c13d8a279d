import t, { type Test } from 'tap';
import type { Store } from '../../../src/server/state/store.ts';

/** Longer than LMDB accepts. */
const KEY_TOO_LONG = 'k'.repeat(5000);

/** The contract of every store. @param openFor opens an empty one, closed with the test */
export function storeContract(name: string, openFor: (t: Test) => Promise<Store>): void {
  const open = async (t: Test) => {
    const store = await openFor(t);
    return { store, table: store.table<number>('numbers') };
  };

  for (const [what, throws] of [
    ['throws', true],
    ['writes what LMDB refuses', false],
  ] as const) {
    t.test(`${name}: a transaction that ${what} writes nothing, others do`, async (t) => {
      const { store, table } = await open(t);
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

  t.test(`${name}: a value is read by later work of the same transaction, and of the next`, async (t) => {
    const { store, table } = await open(t);
    await table.put('gone', 3);
    const seen = await store.transaction(() => {
      table.put('a', 1);
      table.remove('gone');
      return [table.get('a'), table.get('gone')];
    });
    t.same(seen, [1, undefined]);
    t.same([...table.range()], [{ key: 'a', value: 1 }]);
  });

  t.test(`${name}: a transaction is refused a range of what it has written`, async (t) => {
    const { store, table } = await open(t);
    const reading = (read: () => unknown) => () => {
      table.put('a', 1);
      read();
    };
    await t.rejects(store.transaction(reading(() => table.range())));
    await t.rejects(store.transaction(reading(() => table.count())));
    t.equal(table.count(), 0);
  });

  t.test(`${name}: single writes say what they did`, async (t) => {
    const { table } = await open(t);
    t.same(
      await Promise.all([table.putIfAbsent('a', 1), table.putIfAbsent('a', 2), table.putIfAbsent('b', 3)]),
      [true, false, true],
    );
    t.equal(table.get('a'), 1);
    await table.remove('a');
    await table.remove('a');
    t.equal(table.count(), 1);
  });

  t.test(`${name}: values of every shape come back as they were`, async (t) => {
    const { store } = await open(t);
    const table = store.table<unknown>('values');
    const values = [null, 10n ** 18n, { a: undefined, b: [1, 'x', { c: 2n }] }, 'text', 0, false, []];
    await Promise.all(values.map((value, index) => table.put(String(index), value)));
    t.strictSame(
      [...table.range()].map(({ value }) => value),
      values,
    );
  });
}
