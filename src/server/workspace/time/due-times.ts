import type { Store, Table } from '../../state/store.ts';

/** Digits of a moment in a key, so that keys sort by time. */
const DIGITS = 15;

/** Ids in the order in which they fall due, so that a sweep reads no others. Writes belong in the transaction of their row. */
export class DueTimes<Id extends string> {
  readonly #table: Table<null>;
  readonly #idOf: (text: string) => Id;

  /** @param idOf reads a stored id */
  constructor(store: Store, name: string, idOf: (text: string) => Id) {
    this.#table = store.table(name);
    this.#idOf = idOf;
  }

  /** Moves `id` from one moment (undefined: none) to another, in milliseconds of rented time. */
  move(id: Id, from: number | undefined, to: number | undefined): void {
    if (from === to) return;
    if (from !== undefined) void this.#table.remove(keyOf(from, id));
    if (to !== undefined) void this.#table.put(keyOf(to, id), null);
  }

  /** Up to `limit` ids that are due at `now`, the earliest first. */
  due(now: number, limit: number): Id[] {
    return Array.from(this.#table.range({ end: keyOf(now + 1, ''), limit }), ({ key }) =>
      this.#idOf(key.slice(DIGITS + 1)),
    );
  }
}

function keyOf(moment: number, id: string): string {
  return `${Math.max(0, Math.ceil(moment)).toString().padStart(DIGITS, '0')}:${id}`;
}
