import { type PayerId, storedId } from '../../domain/id.ts';
import type { Store, Table } from '../../state/store.ts';
import { DueTimes } from '../time/due-times.ts';
import type { RentedTime } from '../time/rented-time.ts';

/** Rows that are read at once. */
const PAGE = 500;

export interface PayerRow {
  /** Rented time, in milliseconds. */
  readonly endsAt: number;
  /** Its end has begun and will be gone on with, whatever happens. */
  readonly disposing: boolean;
}

/** Until when each payer's own index lives; by the payer's Tenant. */
export class PayerRows {
  readonly #store: Store;
  readonly #time: RentedTime;
  readonly #rows: Table<PayerRow>;
  readonly #due: DueTimes<PayerId>;

  constructor(store: Store, time: RentedTime) {
    this.#store = store;
    this.#time = time;
    this.#rows = store.table('payer_index');
    this.#due = new DueTimes(store, 'payer_index_due', (text) => storedId('payer', text));
  }

  get(tenant: PayerId): PayerRow | undefined {
    return this.#rows.get(tenant);
  }

  /** All payers that have an index, in order. Rows may change between two of them. */
  *all(): Generator<PayerId> {
    for (let start: string | undefined; ; ) {
      const keys = Array.from(this.#rows.range({ start, limit: PAGE }), ({ key }) => key);
      for (const key of keys) yield storedId('payer', key);
      if (keys.length < PAGE) return;
      start = `${keys.at(-1)}\0`;
    }
  }

  /** Up to `limit` Tenants whose time is over now, or whose end has begun. */
  due(limit: number): PayerId[] {
    return this.#due.due(this.#time.now(), limit);
  }

  /** One durable transaction; undefined: there is no row. @returns the row afterwards. */
  set(
    tenant: PayerId,
    change: (row: PayerRow | undefined) => PayerRow | undefined,
  ): Promise<PayerRow | undefined> {
    return this.#store.transaction(() => {
      const before = this.#rows.get(tenant);
      const after = change(before);
      this.#due.move(tenant, before && dueOf(before), after && dueOf(after));
      if (after) void this.#rows.put(tenant, after);
      else void this.#rows.remove(tenant);
      this.#time.keep();
      return after;
    });
  }
}

function dueOf({ endsAt, disposing }: PayerRow): number {
  return disposing ? 0 : endsAt;
}
