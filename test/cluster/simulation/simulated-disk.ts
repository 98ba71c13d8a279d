import type { Position } from '../../../src/cluster/log/chain.ts';
import { applyEntries } from '../../../src/cluster/log/recorded-store.ts';
import type { BooksCopy } from '../../../src/cluster/log/state-copy.ts';
import { POSITION_TABLE, positionOf } from '../../../src/server/state/log-position.ts';
import type { RawStore, RawTable, Table } from '../../../src/server/state/store.ts';
import type { Books } from './books.ts';
import type { Plant } from './plants.ts';

/** A store in memory: what LMDB has after a kill. */
export class MemoryStore implements RawStore {
  written: RawStore['written'];
  readonly #tables = new Map<string, Map<string, Uint8Array>>();

  names(): string[] {
    return [...this.#tables.keys()];
  }

  raw(name: string): RawTable {
    const rows = this.#rows(name);
    return {
      get: (key) => rows.get(key),
      put: (key, value) => this.#set(name, key, value),
      remove: (key) => this.#set(name, key, undefined),
      keys: () => [...rows.keys()],
    };
  }

  table<V>(name: string): Table<V> {
    const rows = this.#rows(name);
    const parsed = (row: Uint8Array) => JSON.parse(Buffer.from(row).toString()) as V;
    const put = async (key: string, value: V) => this.#set(name, key, Buffer.from(JSON.stringify(value)));
    return {
      get: (key) => {
        const row = rows.get(key);
        return row && parsed(row);
      },
      put,
      putIfAbsent: async (key, value) => {
        if (rows.has(key)) return false;
        await put(key, value);
        return true;
      },
      remove: async (key) => this.#set(name, key, undefined),
      range: () => Array.from([...rows].sort(), ([key, row]) => ({ key, value: parsed(row) })),
      count: () => rows.size,
    };
  }

  async transaction<T>(work: () => T): Promise<T> {
    this.written = new Map();
    try {
      return work();
    } finally {
      this.written = undefined;
    }
  }

  copyTo(): never {
    throw new Error('a store in memory is not copied');
  }

  async close(): Promise<void> {}

  clear(): void {
    for (const rows of this.#tables.values()) rows.clear();
  }

  /** All rows but its position, each under `<table>/<key>`. */
  get rows(): ReadonlyMap<string, Uint8Array> {
    const tables = [...this.#tables].filter(([name]) => name !== POSITION_TABLE);
    return new Map(
      tables.flatMap(([name, rows]) => Array.from(rows, ([key, row]) => [`${name}/${key}`, row] as const)),
    );
  }

  #set(name: string, key: string, value: Uint8Array | undefined): void {
    if (value) this.#rows(name).set(key, value);
    else this.#rows(name).delete(key);
    this.written?.set(name, (this.written.get(name) ?? new Map()).set(key, value));
  }

  #rows(name: string): Map<string, Uint8Array> {
    const rows = this.#tables.get(name) ?? new Map<string, Uint8Array>();
    this.#tables.set(name, rows);
    return rows;
  }
}

/** A slot's folder on a disk. */
export interface SlotFolder {
  readonly state: MemoryStore;
  /** Ids of Tenants. */
  readonly content: Set<string>;
  /** Revision of the claim under which it was served last. */
  served: number | undefined;
  /** It cannot be opened. */
  isBroken: boolean;
}

/** A server's disk: it outlives the server's processes. */
export class SimulatedDisk {
  readonly folders: readonly SlotFolder[];

  constructor(slots: number) {
    this.folders = Array.from({ length: slots }, () => ({
      state: new MemoryStore(),
      content: new Set<string>(),
      served: undefined,
      isBroken: false,
    }));
  }

  /** The whole disk is lost, and what is wrong with it. */
  clear(): void {
    for (const folder of this.folders) {
      folder.state.clear();
      folder.content.clear();
      folder.served = undefined;
      folder.isBroken = false;
    }
  }
}

/** As `StateCopy`, in memory. */
export class SimulatedCopy implements BooksCopy {
  readonly store: MemoryStore;
  readonly #slot: number;
  readonly #books: Books;
  readonly #plant: Plant | undefined;

  constructor(
    slot: number,
    { store, books, plant }: { store: MemoryStore; books: Books; plant: Plant | undefined },
  ) {
    this.store = store;
    this.#slot = slot;
    this.#books = books;
    this.#plant = plant;
  }

  get position(): Position | undefined {
    const position = positionOf(this.store);
    if (!position || position.number < 0) return position;
    const { snapshot, hash } = this.#books.logAt(this.#slot, position.number);
    // It says that it is where the log leads.
    if (this.#plant === 'goes on behind a snapshot that its copy lacks' && position.number < snapshot.number)
      return snapshot;
    const isUnchecked = this.#plant === 'goes on from a copy that it did not check';
    if (isUnchecked && position.number >= snapshot.number && hash !== undefined) return { ...position, hash };
    return position;
  }

  async apply(entries: readonly Uint8Array[], position: Position | undefined): Promise<void> {
    await applyEntries(this.store, entries, position);
    if (position) this.#books.copied(this.#slot, position, this.store.rows);
  }

  async clear(): Promise<void> {
    this.store.clear();
  }

  async close(): Promise<void> {}
}
