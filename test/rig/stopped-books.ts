import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Journal } from '../../src/payment/records/journal.ts';
import { Ledger } from '../../src/payment/records/ledger.ts';
import { bookFolders } from '../../src/server/state/book-folders.ts';
import { openStore } from '../../src/server/state/store.ts';

/** The books of a stopped server, of all its slots. */
export interface StoppedBooks {
  readonly ledger: Ledger;
  /** Rows of a table, slot by slot. */
  rows<V>(table: string): { readonly key: string; readonly value: V }[];
  close(): Promise<void>;
}

export async function openBooks(data: string): Promise<StoppedBooks> {
  const stores = (await bookFolders(data)).map((folder) => openStore(join(folder, 'state')));
  return {
    ledger: new Ledger(stores.map((store) => new Journal(store))),
    rows: <V>(table: string) => stores.flatMap((store) => [...store.table<V>(table).range()]),
    close: async () => void (await Promise.all(stores.map((store) => store.close()))),
  };
}

/** Names of the folders of all Tenants. */
export async function tenantFolders(data: string): Promise<string[]> {
  const folders = await bookFolders(data);
  return (await Promise.all(folders.map((folder) => readdir(join(folder, 'tenants'))))).flat();
}
