import type { Store, Table } from '@farthing/server/state/store';

/** A store that can end while it is in use. */
export interface EndableStore extends Store {
  /** From now on each use fails, without touching the store. */
  end(): void;
  readonly hasEnded: boolean;
}

/** @param ended makes the error of a use after the end */
export function endableStore(inner: Store, ended: () => Error): EndableStore {
  let hasEnded = false;
  const check = () => {
    if (hasEnded) throw ended();
  };
  const endable = <V>(table: Table<V>): Table<V> => ({
    get: (key) => {
      check();
      return table.get(key);
    },
    put: (key, value) => {
      check();
      return table.put(key, value);
    },
    putIfAbsent: async (key, value) => {
      check();
      return table.putIfAbsent(key, value);
    },
    remove: async (key) => {
      check();
      return table.remove(key);
    },
    range: (options) => {
      check();
      return table.range(options);
    },
    count: () => {
      check();
      return table.count();
    },
  });
  return {
    table: (name) => endable(inner.table(name)),
    transaction: async (work) => {
      check();
      return inner.transaction(work);
    },
    copyTo: async (folder) => {
      check();
      return inner.copyTo(folder);
    },
    close: () => inner.close(),
    end: () => {
      hasEnded = true;
    },
    get hasEnded() {
      return hasEnded;
    },
  };
}
