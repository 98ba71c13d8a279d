import { mkdirSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { native } from '@farthing/native';
import type { Store as Books, Table } from '@farthing/payment/store';
import { FarthingError } from '@farthing/protocol/error';
import { asBinary, type Database, open, type RootDatabase } from 'lmdb';
import { Reserve } from './reserve.ts';

export type { Table } from '@farthing/payment/store';

/** The shared state of the server: identities, hashes, amounts and counters, never content. */
export interface Store extends Books {
  /** Writes a consistent copy of all tables into a new folder, which `openStore` can open. Writers are not blocked. */
  copyTo(folder: string): Promise<void>;
  close(): Promise<void>;
}

/** A table's rows as LMDB stores them. Writes belong in a transaction. */
export interface RawTable {
  get(key: string): Uint8Array | undefined;
  put(key: string, value: Uint8Array): void;
  remove(key: string): void;
  keys(): Iterable<string>;
}

/** A store whose rows can be copied without being read. */
export interface RawStore extends Store {
  /** Names of all tables. */
  names(): string[];
  raw(name: string): RawTable;
}

/**
 * Opens or creates the shared state in `folder`. The folder's lock refuses a second process.
 * @param durable false: a write survives the end of the process, but a power cut may damage everything
 */
export function openStore(folder: string, { durable = true }: { durable?: boolean } = {}): RawStore {
  mkdirSync(folder, { recursive: true });
  native.reserveLockFile(folder);
  // overlappingSync: false — with the default a resolved put is not yet on the disk, and close() can hang after a transaction.
  const root: RootDatabase = open({
    path: folder,
    maxDbs: 64,
    mapSize: 16 * 2 ** 30,
    overlappingSync: false,
    noSync: !durable,
    noSubdir: false,
  });
  // LMDB makes a new object of a table each time it is opened.
  const opened = new Map<string, Database>();
  const databaseOf = <V>(name: string): Database<V, string> => {
    const database = opened.get(name) ?? root.openDB({ name });
    opened.set(name, database);
    return database as Database<V, string>;
  };
  const reserve = new Reserve(join(folder, 'data.mdb'), {
    usedBytes: () => usedBytes(root),
    alone: (work) => root.transactionSync(work),
  });
  let isInside = false;
  // A transaction is admitted as a whole: writes inside it are not checked again.
  const write = <T>(begin: () => Promise<T>): Promise<T> => {
    if (!isInside) {
      try {
        reserve.assertRoom();
      } catch (error) {
        return Promise.reject(error);
      }
    }
    return written(begin());
  };
  return {
    table: (name) => wrap(databaseOf(name), write),
    // A plain `transaction` commits what its callback wrote before it threw; a child transaction is aborted.
    transaction: (work) =>
      write(() =>
        root.childTransaction(() => {
          isInside = true;
          try {
            return work();
          } finally {
            isInside = false;
          }
        }),
      ),
    copyTo: async (copy) => {
      await mkdir(copy, { mode: 0o700 });
      await root.backup(copy, true);
    },
    close: async () => {
      await root.close();
      reserve.close();
    },
    names: () => Array.from(root.getKeys(), String),
    raw: (name) => rawTable(databaseOf(name)),
  };
}

function rawTable(database: Database<unknown, string>): RawTable {
  return {
    get: (key) => database.getBinary(key),
    put: (key, value) => void written(database.put(key, asBinary(value))),
    remove: (key) => void written(database.remove(key)),
    keys: () => database.getKeys(),
  };
}

function usedBytes(root: RootDatabase): number {
  const { lastPageNumber, pageSize } = root.getStats() as { lastPageNumber: number; pageSize: number };
  return (lastPageNumber + 1) * pageSize;
}

function wrap<V>(database: Database<V, string>, write: <T>(begin: () => Promise<T>) => Promise<T>): Table<V> {
  return {
    get: (key) => database.get(key),
    // Not `async`: an error thrown by LMDB must end the surrounding transaction.
    put: (key, value) => write(() => database.put(key, value).then(() => {})),
    putIfAbsent: (key, value) =>
      write(() => database.ifNoExists(key, () => void written(database.put(key, value)))),
    remove: (key) => write(() => database.remove(key)),
    range: (options = {}) => database.getRange(options),
    count: () => database.getCount(),
  };
}

const RETRY_AFTER_S = 5;
const NO_SPACE = 28;
/** The map of a state is full: LMDB's own number. */
const MAP_FULL = -30_792;

/**
 * A write of LMDB whose failure has a code of ours. Inside a transaction no single write is awaited: that fails with its transaction,
 * and is no stray error.
 */
function written<T>(writing: Promise<T>): Promise<T> {
  const done = writing.catch((error: unknown) => {
    throw refusalOf(error);
  });
  done.catch(noop);
  return done;
}

/** Maps disk errors to `books_unavailable`; other errors stay as they are. */
function refusalOf(error: unknown): unknown {
  const { code, commitError } = (error ?? {}) as { code?: unknown; commitError?: Promise<unknown> };
  // This promise rejects with the cause, for all writes of the transaction: one of them reports it.
  commitError?.catch(noop);
  const isErrno = typeof code === 'number' && (code > 0 || code === MAP_FULL);
  if (commitError === undefined && !isErrno) return error;
  const isFull = code === NO_SPACE || code === MAP_FULL;
  return new FarthingError(
    'books_unavailable',
    `${isFull ? 'The disk of the server is full' : 'The disk of the server refuses writes'}. Try again later.`,
    { retryAfterS: RETRY_AFTER_S, cause: error },
  );
}

function noop(): void {}
