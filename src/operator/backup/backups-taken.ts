import { toTimestamp } from '../../domain/clock.ts';
import type { Store, Table } from '../../state/store.ts';
import type { KeptFact } from '../../workspace/disposal/receipt-claims.ts';

const LAST = 'last';

/** Remembers the last backup, because a receipt must not hide that one exists. */
export class BackupsTaken {
  readonly #table: Table<{ readonly at: number }>;

  constructor(store: Store) {
    this.#table = store.table('backups');
  }

  async note(at: number): Promise<void> {
    await this.#table.put(LAST, { at });
  }

  /** What backups hold of a Tenant. @param createdAt milliseconds since the epoch */
  keptOf(createdAt: number): KeptFact[] {
    const last = this.#table.get(LAST);
    if (!last || last.at < createdAt) return [];
    const what = `whatever lay in it when the operator took a backup, the last time at ${toTimestamp(last.at)}`;
    return [{ what, why: 'until the operator deletes the backup', until: null }];
  }
}
