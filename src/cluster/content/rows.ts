import type { Table } from '@farthing/server/state/store';
import type { SlotStore } from '../log/recorded-store.ts';
import type { Blob } from './blobs.ts';

/** State of a Tenant's content as a whole. */
export interface ContentHead {
  /** Drawn with its first write: a Tenant that comes back has another one. */
  readonly id: string;
  /** Writes so far. */
  readonly seq: number;
  /** Cost of the writes after the snapshot, in bytes. */
  readonly cost: number;
  readonly snapshot?: IndexSnapshot;
}

/** A copy of the whole index, as of a write. */
export interface IndexSnapshot {
  readonly seq: number;
  readonly bytes: number;
  readonly files: readonly { readonly name: string; readonly blob: Blob }[];
}

/** A write to an index; what it writes is sealed, here if it is small, and as a blob otherwise. */
export interface IndexWrite {
  readonly kind: 'append' | 'put' | 'alias' | 'remove';
  /** Base64. */
  readonly inline?: string;
  readonly blob?: Blob;
}

export interface AddedWrite {
  readonly change: (before: readonly IndexWrite[]) => readonly IndexWrite[];
  /** That it has. */
  readonly bytes: number;
  readonly file?: Blob | undefined;
}

/** Writes that rebuild an Item of an index, after the snapshot. */
export interface ItemWrites {
  /** Number of the last write. */
  readonly seq: number;
  /** In order. */
  readonly writes: readonly IndexWrite[];
}

/** A Tenant's key, sealed under a cluster key. */
export interface SealedKey {
  readonly clusterKey: string;
  /** Base64. */
  readonly sealed: string;
}

/** Cost of a write, beside its bytes, when an index is rebuilt. */
const WRITE_COST = 16_384;
const ROWS_AT_ONCE = 500;

/** The tables of a slot that reference its Tenants' content. They hold ciphertext, sizes and names of objects. */
export class ContentRows {
  readonly store: SlotStore;
  readonly heads: Table<ContentHead>;
  readonly items: Table<ItemWrites>;
  readonly files: Table<Blob>;
  readonly keys: Table<SealedKey>;

  constructor(store: SlotStore) {
    this.store = store;
    this.heads = store.table('content');
    this.items = store.table('content_items');
    this.files = store.table('content_files');
    this.keys = store.table('content_keys');
  }

  /** The Items written after the snapshot, in the order of their last writes. */
  writesOf(tenant: string, after: number): { readonly item: string; readonly row: ItemWrites }[] {
    return [...rowsOf(this.items, tenant)]
      .map(({ key, value }) => ({ item: key.slice(tenant.length + 1), row: value }))
      .filter(({ row }) => row.seq > after)
      .sort((a, b) => a.row.seq - b.row.seq);
  }

  /** Adds a write to an Item, and its stored file if there is a new one. @returns its number under its head's id, and what was there before */
  addWrite(
    tenant: string,
    item: string,
    { change, bytes, file }: AddedWrite,
  ): Promise<{
    readonly id: string;
    readonly seq: number;
    readonly before: readonly IndexWrite[];
    readonly formerFile: Blob | undefined;
  }> {
    const key = keyOf(tenant, item);
    return this.store.transaction(() => {
      const formerFile = file && this.files.get(key);
      if (file) void this.files.put(key, file);
      const head = this.heads.get(tenant)!;
      const before = this.items.get(key)?.writes ?? [];
      const seq = head.seq + 1;
      void this.heads.put(tenant, { ...head, seq, cost: head.cost + bytes + WRITE_COST });
      void this.items.put(key, { seq, writes: change(before) });
      return { id: head.id, seq, before, formerFile };
    });
  }

  /** From now on the index is rebuilt from a snapshot and the writes after it. @returns blobs that are no longer needed */
  async setSnapshot(tenant: string, snapshot: IndexSnapshot): Promise<Blob[]> {
    const outdated: Blob[] = [];
    await this.store.transaction(() => {
      const head = this.heads.get(tenant)!;
      outdated.push(...(head.snapshot?.files ?? []).map(({ blob }) => blob));
      const { cost: _before, ...kept } = head;
      const cost = (head.seq - snapshot.seq) * WRITE_COST;
      void this.heads.put(tenant, { ...kept, cost, snapshot });
    });
    const covered = [...rowsOf(this.items, tenant)].filter(({ value }) => value.seq <= snapshot.seq);
    for (let from = 0; from < covered.length; from += ROWS_AT_ONCE)
      await this.store.transaction(() => {
        for (const { key } of covered.slice(from, from + ROWS_AT_ONCE)) {
          const row = this.items.get(key);
          if (!row || row.seq > snapshot.seq) continue;
          outdated.push(...blobsIn(row.writes));
          void this.items.remove(key);
        }
      });
    return outdated;
  }

  /** Every blob that a Tenant needs. */
  blobsOf(tenant: string): Blob[] {
    const snapshot = this.heads.get(tenant)?.snapshot?.files ?? [];
    return [
      ...snapshot.map(({ blob }) => blob),
      ...[...rowsOf(this.items, tenant)].flatMap(({ value }) => blobsIn(value.writes)),
      ...[...rowsOf(this.files, tenant)].map(({ value }) => value),
    ];
  }

  /**
   * Rewrites an existing row: it resolves only if this process owned the slot when it was called. A replaced owner would take its
   * successor's objects for abandoned.
   * @throws why it never will own the slot
   */
  async confirm(tenant: string): Promise<void> {
    await this.store.transaction(() => {
      const key = this.keys.get(tenant);
      if (!key) throw new Error(`${tenant} has been forgotten`);
      void this.keys.put(tenant, key);
    });
  }

  /** Forgets a Tenant, its key last. */
  async forget(tenant: string): Promise<void> {
    for (const table of [this.items, this.files] as const) {
      const keys = [...rowsOf<unknown>(table, tenant)].map(({ key }) => key);
      for (let from = 0; from < keys.length; from += ROWS_AT_ONCE)
        await this.store.transaction(() => {
          for (const key of keys.slice(from, from + ROWS_AT_ONCE)) void table.remove(key);
        });
    }
    await this.store.transaction(() => {
      void this.heads.remove(tenant);
      void this.keys.remove(tenant);
    });
  }
}

export function keyOf(tenant: string, item: string): string {
  return `${tenant}/${item}`;
}

export function tenantOf(key: string): string {
  return key.slice(0, key.indexOf('/'));
}

export function blobsIn(writes: readonly IndexWrite[]): Blob[] {
  return writes.flatMap(({ blob }) => blob ?? []);
}

function rowsOf<V>(table: Table<V>, tenant: string): Iterable<{ key: string; value: V }> {
  // '0' follows '/' in the order of bytes.
  return table.range({ start: `${tenant}/`, end: `${tenant}0` });
}
