import { parseId, type StepId, type WorkspaceId } from '../../domain/id.ts';
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

  add(id: WorkspaceId | StepId): void {
    void this.#table.put(id, null);
  }

  remove(id: WorkspaceId | StepId): void {
    void this.#table.remove(id);
  }

  /** Workspaces whose creation waits. */
  creations(): WorkspaceId[] {
    return this.#keys().flatMap((key) => parseId('workspace', key) ?? []);
  }

  /** Extensions that wait. */
  extensions(): StepId[] {
    return this.#keys().flatMap((key) => parseId('step', key) ?? []);
  }

  #keys(): string[] {
    return Array.from(this.#table.range(), ({ key }) => key);
  }
}
