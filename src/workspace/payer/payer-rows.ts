import type { Store, Table } from '../../state/store.ts';
import { DueTimes } from '../time/due-times.ts';
import type { RentedTime } from '../time/rented-time.ts';

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
  readonly #due: DueTimes;

  constructor(store: Store, time: RentedTime) {
    this.#store = store;
    this.#time = time;
    this.#rows = store.table('payer_index');
    this.#due = new DueTimes(store, 'payer_index_due');
  }

  get(tenant: string): PayerRow | undefined {
    return this.#rows.get(tenant);
  }

  /** Up to `limit` Tenants in order, after `after`. */
  list({ after, limit }: { after?: string; limit: number }): string[] {
    const start = after === undefined ? undefined : `${after}\0`;
    return Array.from(this.#rows.range({ start, limit }), ({ key }) => key);
  }

  /** Up to `limit` Tenants whose time is over now, or whose end has begun. */
  due(limit: number): string[] {
    return this.#due.due(this.#time.now(), limit);
  }

  /** One durable transaction; undefined: there is no row. @returns the row afterwards. */
  set(
    tenant: string,
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
