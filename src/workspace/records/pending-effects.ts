import type { Store, Table } from '../../state/store.ts';

/**
 * The creations and extensions that wait for their payments' outcome, so that a start finds them without looking at
 * every record. Written in the transactions that write what they are about.
 */
export class PendingEffects {
  readonly #table: Table<null>;

  constructor(store: Store) {
    this.#table = store.table('workspace_undecided');
  }

  add(id: string): void {
    void this.#table.put(id, null);
  }

  remove(id: string): void {
    void this.#table.remove(id);
  }

  /** Ids of workspaces and of steps. */
  list(): string[] {
    return Array.from(this.#table.range(), ({ key }) => key);
  }
}
