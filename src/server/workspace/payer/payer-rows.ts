import { type PayerId, storedId } from '@farthing/protocol/id';
import type { Store, Table } from '../../state/store.ts';
import { DueTimes } from '../time/due-times.ts';
import type { RentedTime } from '../time/rented-time.ts';

/** Rows that are read at a time. */
const PAGE = 500;

export interface PayerRow {
  /** Rented time, in milliseconds. */
  readonly endsAt: number;
  /** Rented time at which it began; absent in rows of earlier versions. */
  readonly begunAt?: number;
  /** Its end has begun, and will be completed even after a crash. */
  readonly disposing: boolean;
}

/** When each payer's index ends. */
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

  get(payer: PayerId): PayerRow | undefined {
    return this.#rows.get(payer);
  }

  /** All payers with an index, in order. Rows may change during the iteration. */
  *all(): Generator<PayerId> {
    for (let start: string | undefined; ; ) {
      const keys = Array.from(this.#rows.range({ start, limit: PAGE }), ({ key }) => key);
      for (const key of keys) yield storedId('payer', key);
      if (keys.length < PAGE) return;
      start = `${keys.at(-1)}\0`;
    }
  }

  /** Up to `limit` payers whose index has expired, or whose end has begun. */
  due(limit: number): PayerId[] {
    return this.#due.due(this.#time.now(), limit);
  }

  /** Changes a row (undefined: none) in one durable transaction. @returns the row afterwards. */
  set(
    payer: PayerId,
    change: (row: PayerRow | undefined) => PayerRow | undefined,
  ): Promise<PayerRow | undefined> {
    return this.#store.transaction(() => {
      const before = this.#rows.get(payer);
      const after = change(before);
      this.#due.move(payer, before && dueOf(before), after && dueOf(after));
      if (after) void this.#rows.put(payer, after);
      else void this.#rows.remove(payer);
      this.#time.keep();
      return after;
    });
  }
}

function dueOf({ endsAt, disposing }: PayerRow): number {
  return disposing ? 0 : endsAt;
}
