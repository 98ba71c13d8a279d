import { toTimestamp } from '@farthing/protocol/clock';
import type { KeptFact } from '@farthing/protocol/schema/workspaces';
import type { Store, Table } from '../../state/store.ts';

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

  /** When the last one was taken, in milliseconds since the epoch; undefined without any. */
  get last(): number | undefined {
    return this.#table.get(LAST)?.at;
  }
}

/**
 * The Tenant's data that backups hold. @param taken when each was taken, and when the Tenant was created, in milliseconds since the epoch;
 * undefined: none was
 */
export function keptInBackups(taken: readonly (number | undefined)[], createdAt: number): KeptFact[] {
  const last = Math.max(...taken.map((at) => at ?? Number.NEGATIVE_INFINITY));
  if (last < createdAt) return [];
  const what = `whatever lay in it when the operator took a backup, the last time at ${toTimestamp(last)}`;
  return [{ what, why: 'until the operator deletes the backup', until: null }];
}
