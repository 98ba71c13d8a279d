import type { Store, Table } from '../../state/store.ts';

/** Ids of the house's workspaces that hold data. */
export function houseTable(store: Pick<Store, 'table'>): Table<null> {
  return store.table('house_workspaces');
}
