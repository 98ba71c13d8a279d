import type { Address } from '@farthing/protocol/address';
import { parseId, type StepId, type WorkspaceId } from '@farthing/protocol/id';
import type { Store, Table } from '../../state/store.ts';

/** An extension whose payment is open. */
export interface PendingExtension {
  readonly step: StepId;
  /** Its payment is in the store that this wallet belongs to. */
  readonly payer: Address;
}

/**
 * Creations and extensions whose payment is still open, so that a start finds them without reading every record. Writes
 * belong in the transaction of the creation or extension.
 */
export class PendingEffects {
  readonly #table: Table<null | { readonly payer: Address }>;

  constructor(store: Store) {
    this.#table = store.table('workspace_undecided');
  }

  addCreation(id: WorkspaceId): void {
    void this.#table.put(id, null);
  }

  addExtension({ step, payer }: PendingExtension): void {
    void this.#table.put(step, { payer });
  }

  remove(id: WorkspaceId | StepId): void {
    void this.#table.remove(id);
  }

  creations(): WorkspaceId[] {
    return [...this.#table.range()].flatMap(({ key }) => parseId('workspace', key) ?? []);
  }

  extensions(): PendingExtension[] {
    return [...this.#table.range()].flatMap(({ key, value }) => {
      const step = parseId('step', key);
      return step && value ? { step, payer: value.payer } : [];
    });
  }
}
