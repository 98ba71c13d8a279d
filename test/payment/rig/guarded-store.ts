import type { Store, Table } from '../../../src/server/state/store.ts';

/** The same store, each of whose writes passes through `guard`: a transaction counts as one. */
export function guardWrites(store: Store, guard: <T>(apply: () => Promise<T>) => Promise<T>): Store {
  let inTransaction = false;
  const table = <V>(name: string): Table<V> => {
    const inner = store.table<V>(name);
    const guarded = <T>(apply: () => Promise<T>) => (inTransaction ? apply() : guard(apply));
    return {
      ...inner,
      put: (key, value) => guarded(() => inner.put(key, value)),
      putIfAbsent: (key, value) => guarded(() => inner.putIfAbsent(key, value)),
      remove: (key) => guarded(() => inner.remove(key)),
    };
  };
  return {
    ...store,
    table,
    transaction: <T>(work: () => T) =>
      guard(() =>
        store.transaction(() => {
          inTransaction = true;
          try {
            return work();
          } finally {
            inTransaction = false;
          }
        }),
      ),
  };
}
