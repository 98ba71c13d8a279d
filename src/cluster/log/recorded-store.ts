import { keepPosition, POSITION_TABLE, type Position } from '@farthing/server/state/log-position';
import type { RawStore, Store, Table } from '@farthing/server/state/store';
import { type Change, decodeChanges, encodeChanges } from './changes.ts';

/** The log that a recorded store writes. */
export interface ChangeLog {
  /** Takes the next entry, in the order of the calls. @returns the position after it, and when it is safe there */
  append(entry: Uint8Array): { readonly position: Position; readonly safe: Promise<void> };
  /** Resolves once everything taken so far is safe. @throws once it never will be */
  stable(): Promise<void>;
  /** The copy on this disk no longer follows the log. */
  abandon(error: unknown): void;
}

/** A store whose every transaction is an entry of a log. */
export interface RecordedStore extends Store {
  /**
   * Resolves once the log has every transaction begun until now: before that, nothing that depends on one may leave the process.
   * @throws why the log never will have them
   */
  stable(): Promise<void>;
}

/** The state of a slot: with a log, or without one. */
export interface SlotStore extends Store {
  /** Age of the oldest write that the log lacks, in milliseconds; 0 when it has all. */
  lagMs?(): number;
  /** Shortens the log when that is worth it. Called once a second. */
  trim?(): Promise<void>;
}

/**
 * Applies entries of a log from elsewhere, in one transaction.
 * @param position after the last of all; absent while more are to come, so that an incomplete copy counts as none
 */
export async function applyEntries(
  store: RawStore,
  entries: readonly Uint8Array[],
  position?: Position,
): Promise<void> {
  await store.transaction(() => {
    for (const { table, key, value } of entries.flatMap(decodeChanges)) {
      if (value) store.raw(table).put(key, value);
      else store.raw(table).remove(key);
    }
    keepPosition(store, position);
  });
}

/** All rows of a store but its position, as entries of at most about `bytesMax`. */
export function* entriesOf(store: RawStore, bytesMax: number): Generator<Uint8Array> {
  let changes: Change[] = [];
  let bytes = 0;
  for (const table of store.names().filter((name) => name !== POSITION_TABLE)) {
    const rows = store.raw(table);
    for (const key of rows.keys()) {
      const value = Uint8Array.from(rows.get(key)!);
      changes.push({ table, key, value });
      bytes += key.length + value.length;
      if (bytes < bytesMax) continue;
      yield encodeChanges(changes);
      changes = [];
      bytes = 0;
    }
  }
  if (changes.length > 0) yield encodeChanges(changes);
}

/**
 * Records each transaction of `inner` in a log. It is read at once, and its promise resolves when it is safe in the log, too. The order
 * of the entries is that of the transactions.
 */
export function recordedStore(inner: RawStore, log: ChangeLog): RecordedStore {
  /** The last transaction that was begun: they run in order. */
  let last: Promise<unknown> = Promise.resolve();

  /** Called at the end of the running transaction. */
  const record = (): Promise<void> | undefined => {
    const changes = [...inner.written!].flatMap(([table, rows]) =>
      Array.from(rows, ([key, value]): Change => ({ table, key, value })),
    );
    if (changes.length === 0) return undefined;
    const { position, safe } = log.append(encodeChanges(changes));
    // Awaited once the transaction has ended.
    safe.catch(() => undefined);
    keepPosition(inner, position);
    return safe;
  };
  const transaction = async <T>(work: () => T): Promise<T> => {
    let safe: Promise<void> | undefined;
    const committed = inner.transaction(() => {
      const result = work();
      safe = record();
      return result;
    });
    last = committed.catch(() => undefined);
    const result = await committed.catch((error: unknown) => {
      // The log has what the disk refused.
      if (safe) log.abandon(error);
      throw error;
    });
    await safe;
    return result;
  };
  const recorded = <V>(name: string): Table<V> => {
    const table = inner.table<V>(name);
    const inTransaction = <T>(work: () => T): Promise<T> =>
      inner.written ? Promise.resolve(work()) : transaction(work);
    const isThere = (key: string) => table.get(key) !== undefined;
    return {
      ...table,
      put: (key, value) => inTransaction(() => void table.put(key, value)),
      putIfAbsent: (key, value) =>
        inTransaction(() => {
          if (isThere(key)) return false;
          void table.put(key, value);
          return true;
        }),
      remove: (key) => inTransaction(() => void (isThere(key) && table.remove(key))),
    };
  };
  return {
    table: recorded,
    transaction,
    copyTo: (folder) => inner.copyTo(folder),
    close: () => inner.close(),
    stable: async () => {
      await last;
      await log.stable();
    },
  };
}
