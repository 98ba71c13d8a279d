import { parseId, type StepId, type WorkspaceId } from '../../domain/id.ts';
import type { Store, Table } from '../../state/store.ts';

/**
 * Creations and extensions whose payment is still open, so that a start finds them without reading every record. Writes
 * belong in the transaction of the creation or extension.
 */
export class PendingEffects {
  readonly #table: Table<null>;

  constructor(store: Store) {
    this.#table = store.table('workspace_undecided');
  }

  add(id: WorkspaceId | StepId): void {
    void this.#table.put(id, null);
  }

  remove(id: WorkspaceId | StepId): void {
    void this.#table.remove(id);
  }

  creations(): WorkspaceId[] {
    return this.#ids().flatMap((id) => parseId('workspace', id) ?? []);
  }

  extensions(): StepId[] {
    return this.#ids().flatMap((id) => parseId('step', id) ?? []);
  }

  #ids(): string[] {
    return Array.from(this.#table.range(), ({ key }) => key);
  }
}
