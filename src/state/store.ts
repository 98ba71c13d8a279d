import { mkdir } from 'node:fs/promises';
import { type Database, open, type RootDatabase } from 'lmdb';

/**
 * One named table of the shared state. Values are JSON-like objects (bigints included); keys are strings, ordered by
 * their bytes. A resolved write is on the disk.
 */
export interface Table<V> {
  get(key: string): V | undefined;
  /** Throws at once, before anything is written, when LMDB refuses the key or the value. */
  put(key: string, value: V): Promise<void>;
  /** Atomic put-if-absent: true when this call wrote the value. */
  putIfAbsent(key: string, value: V): Promise<boolean>;
  remove(key: string): Promise<boolean>;
  /** Entries with `start` <= key < `end`, in order. The snapshot is held while iterating: keep it short. */
  range(options?: {
    start?: string;
    end?: string;
    limit?: number;
    reverse?: boolean;
  }): Iterable<{ key: string; value: V }>;
  count(): number;
}

/** The shared state of the server: identities, hashes, amounts and counters, never content. */
export interface Store {
  table<V>(name: string): Table<V>;
  /**
   * Runs `work` as one atomic, durable, exclusive transaction: reads in it see all earlier writes, and writes in it
   * (`put`, `remove`, not awaited) are on the disk when the promise resolves. `work` is synchronous; when it throws, nothing of
   * it is written.
   */
  transaction<T>(work: () => T): Promise<T>;
  /** Writes all tables, as one moment has them, into a new folder, from where they can be opened. Writers go on meanwhile. */
  copyTo(folder: string): Promise<void>;
  close(): Promise<void>;
}

/** Opens (or makes) the shared state in `folder`. One process may own it; a second one is refused by the folder's lock. */
export function openStore(folder: string): Store {
  // overlappingSync: false — with the default a resolved put is not yet on the disk, and close() can hang after a transaction.
  const root: RootDatabase = open({
    path: folder,
    maxDbs: 32,
    mapSize: 16 * 2 ** 30,
    overlappingSync: false,
    noSubdir: false,
  });
  return {
    table: (name) => wrap(root.openDB({ name })),
    // LMDB's `transaction` commits what was written before its callback threw; a child transaction is aborted.
    transaction: (work) => root.childTransaction(work),
    copyTo: async (copy) => {
      await mkdir(copy, { mode: 0o700 });
      await root.backup(copy, true);
    },
    close: () => root.close(),
  };
}

function wrap<V>(database: Database<V, string>): Table<V> {
  return {
    get: (key) => database.get(key),
    // Not `async`: what LMDB throws must end the transaction that it is in.
    put: (key, value) => database.put(key, value).then(() => {}),
    putIfAbsent: (key, value) => database.ifNoExists(key, () => database.put(key, value)),
    remove: (key) => database.remove(key),
    range: (options = {}) => database.getRange(options),
    count: () => database.getCount(),
  };
}
