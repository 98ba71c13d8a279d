/**
 * One named table of the shared state. Values are JSON-like objects (bigints included). Keys are strings, ordered by
 * their bytes. A write is on the disk once its promise resolves.
 */
export interface Table<V> {
  get(key: string): V | undefined;
  /**
   * Throws synchronously, before anything is written, when LMDB refuses the key or the value. Here and below a promise rejects with
   * books_unavailable when the disk takes no write.
   */
  put(key: string, value: V): Promise<void>;
  /** Atomic put-if-absent: true when this call wrote the value. */
  putIfAbsent(key: string, value: V): Promise<boolean>;
  remove(key: string): Promise<void>;
  /** Entries with `start` <= key < `end`, in order. Iterating holds a snapshot: keep it short. @throws within a transaction that has written the table */
  range(options?: {
    start?: string;
    end?: string;
    limit?: number;
    reverse?: boolean;
  }): Iterable<{ key: string; value: V }>;
  /** @throws as `range` */
  count(): number;
}

/** The store that payments need: durable tables, and transactions over them. */
export interface Store {
  table<V>(name: string): Table<V>;
  /**
   * Runs `work`, which is synchronous, as one atomic, durable, exclusive transaction. Its reads see all earlier writes. Its
   * writes (`put`, `remove`, not awaited) are on the disk when the promise resolves; if it throws, none is made.
   */
  transaction<T>(work: () => T): Promise<T>;
  /**
   * Resolves once all that was written until now outlives this disk: before that, nothing that depends on it may leave the process.
   * Absent: nothing is awaited. @throws why it never will
   */
  stable?(): Promise<void>;
}
