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

/** Rows that a transaction has written, by table and key; without a value, those that it removes. */
type Written = Map<string, Map<string, Uint8Array | undefined>>;

/** A store whose rows can be copied without being read. */
export interface RawStore extends Store {
  /** Of the running transaction, so far; undefined outside of one. */
  readonly written: Written | undefined;
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
  const state: Writing = {
    written: undefined,
    write: (begin) => {
      try {
        reserve.assertRoom();
      } catch (error) {
        return Promise.reject(error);
      }
      return settled(begin());
    },
    transaction: (work) => {
      if (state.written) throw new Error('a transaction begins no other');
      return state.write(() =>
        root.transaction(() => {
          const tables: Written = new Map();
          state.written = tables;
          try {
            const result = work();
            for (const [name, rows] of tables)
              for (const [key, bytes] of rows)
                void (bytes ? databaseOf(name).put(key, asBinary(bytes)) : databaseOf(name).remove(key));
            return result;
          } finally {
            state.written = undefined;
          }
        }),
      );
    },
  };
  return {
    get written() {
      return state.written;
    },
    table: (name) => tableOf(name, databaseOf(name), state),
    transaction: state.transaction,
    copyTo: async (copy) => {
      await mkdir(copy, { mode: 0o700 });
      await root.backup(copy, true);
    },
    close: async () => {
      await root.close();
      reserve.close();
    },
    names: () => Array.from(root.getKeys(), String),
    raw: (name) => rawTable(name, databaseOf(name), state),
  };
}

/**
 * How a store is written. The rows of a transaction lie in memory until its work has come to its end, and are put then: work that throws has
 * written nothing. So LMDB needs no child transaction to undo it, which would take and return 3 MiB, half of what a transaction costs.
 * All of them are put or none: what LMDB refuses of a single row, its key, `note` refuses before; anything else that fails in the midst (no
 * page, no room in the map) marks LMDB's own transaction as failed, which then commits nothing.
 */
interface Writing {
  written: Written | undefined;
  /** A write, or a transaction as a whole: refused where the disk has no room for it. */
  write<T>(begin: () => Promise<T>): Promise<T>;
  transaction<T>(work: () => T): Promise<T>;
}

/** A row of the running transaction. @throws where LMDB would refuse its key */
function note({ written }: Writing, table: string, key: string, bytes: Uint8Array | undefined): void {
  if (!written) throw new Error('rows are written within a transaction');
  if (Buffer.byteLength(key) > KEY_BYTES_MAX)
    throw new Error(`LMDB takes no key of ${key.length} characters`);
  const rows = written.get(table) ?? new Map<string, Uint8Array | undefined>();
  written.set(table, rows.set(key, bytes));
}

function rawTable(name: string, database: Database<unknown, string>, state: Writing): RawTable {
  return {
    get: (key) => {
      const rows = state.written?.get(name);
      return rows?.has(key) ? rows.get(key) : database.getBinary(key);
    },
    put: (key, value) => note(state, name, key, value),
    remove: (key) => note(state, name, key, undefined),
    keys: () => database.getKeys(),
  };
}

function usedBytes(root: RootDatabase): number {
  const { lastPageNumber, pageSize } = root.getStats() as { lastPageNumber: number; pageSize: number };
  return (lastPageNumber + 1) * pageSize;
}

/** What a table's values are written with. */
interface Encoder<V> {
  encode(value: V): Uint8Array;
  decode(bytes: Uint8Array): V;
}

function tableOf<V>(name: string, database: Database<V, string>, state: Writing): Table<V> {
  const { encoder } = database as unknown as { readonly encoder: Encoder<V> };
  const get = (key: string): V | undefined => {
    const rows = state.written?.get(name);
    if (!rows?.has(key)) return database.get(key);
    const bytes = rows.get(key);
    return bytes && encoder.decode(bytes);
  };
  // Not `async`: an error thrown here must end the surrounding transaction.
  const put = (key: string, value: V): Promise<void> => {
    if (!state.written) return state.write(() => database.put(key, value).then(noop));
    note(state, name, key, encoder.encode(value));
    return NOTED;
  };
  const unchanged = () => {
    if (state.written?.has(name)) throw new Error('a transaction reads no range of what it has written');
    return database;
  };
  return {
    get,
    put,
    putIfAbsent: (key, value) =>
      state.transaction(() => {
        const isAbsent = get(key) === undefined;
        if (isAbsent) void put(key, value);
        return isAbsent;
      }),
    remove: (key) => {
      if (!state.written) return state.write(() => database.remove(key).then(noop));
      note(state, name, key, undefined);
      return NOTED;
    },
    range: (options = {}) => unchanged().getRange(options),
    count: () => unchanged().getCount(),
  };
}

const NOTED = Promise.resolve();
/** LMDB takes 1978: a byte may mark the kind of a key, and in those of less than 64 each control character takes two. */
const KEY_BYTES_MAX = 1900;
const RETRY_AFTER_S = 5;
const NO_SPACE = 28;
/** The map of a state is full: LMDB's own number. */
const MAP_FULL = -30_792;

/** A write of LMDB whose failure has a code of ours, and is no stray error where nobody awaits it. */
function settled<T>(writing: Promise<T>): Promise<T> {
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
