import { type Clock, toTimestamp } from '../../domain/clock.ts';
import type { Store, Table } from '../../state/store.ts';

interface Heartbeat {
  readonly rented: number;
  readonly wall: number;
}

export interface RentedTimeOptions {
  /** Minutes of downtime that are given back at a start; what is over passes as if the server had been up. */
  readonly downtimeRefundMinutesMax: number;
  /** Milliseconds from any origin, never going back. Default: the process's monotonic clock. */
  readonly monotonic?: () => number;
}

const KEY = 'heartbeat';
/** Both clocks are read in whole milliseconds, which do not begin together. */
const ROUNDING_MS = 2;

/**
 * The time that tenants rent, in milliseconds: it passes only while the server is up.
 *
 * It advances with a monotonic source, so that no jump of the wall clock shortens or lengthens a rented minute. A
 * heartbeat keeps (rented, wall) on the disk. At a start it goes on from the last heartbeat: the time between is the
 * wall clock's difference, of which up to `downtimeRefundMinutesMax` is given back and the rest has passed (a wall
 * clock that went backwards counts as no time at all). What was lived after the last heartbeat before a crash is given
 * back too: at most one heartbeat interval, in the tenant's favour. Everything paid for is committed together with a
 * heartbeat, so that a crash never puts a commit into the future.
 *
 *     rented ──────●━━━━━━━━●            ●━━━━━━━━━━▶     stands still while the server is down
 *     wall   ──────●━━━━━━━━●┈┈┈ down ┈┈┈●━━━━━━━━━━▶
 */
export class RentedTime {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #monotonic: () => number;
  readonly #table: Table<Heartbeat>;
  readonly #origin: number;
  /** By how much the wall clock was ahead when it was last told. */
  #ahead = Number.NEGATIVE_INFINITY;

  constructor(
    store: Store,
    clock: Clock,
    { downtimeRefundMinutesMax, monotonic = () => performance.now() }: RentedTimeOptions,
  ) {
    this.#store = store;
    this.#clock = clock;
    this.#monotonic = monotonic;
    this.#table = store.table('workspace_clock');
    const last = this.#table.get(KEY);
    const down = last ? Math.max(0, clock.now() - last.wall) : 0;
    const passed = Math.max(0, down - downtimeRefundMinutesMax * 60_000);
    this.#origin = (last?.rented ?? 0) + passed - monotonic();
  }

  /** Milliseconds of rented time since the server's first start; whole, never going back. */
  now(): number {
    return Math.floor(this.#origin + this.#monotonic());
  }

  /** The wall clock's milliseconds at a moment of rented time, as it looks now: the same as long as neither clock jumps. */
  toWall(rented: number): number {
    const ahead = this.#clock.now() - this.now();
    if (Math.abs(ahead - this.#ahead) > ROUNDING_MS) this.#ahead = ahead;
    return rented + this.#ahead;
  }

  /** RFC 3339 of a moment of rented time, as it looks now. */
  toTimestamp(rented: number): string {
    return toTimestamp(this.toWall(rented));
  }

  /** Inside a transaction of the store: keeps the present moment together with what the transaction writes. */
  keep(): void {
    void this.#table.put(KEY, { rented: this.now(), wall: this.#clock.now() });
  }

  /** Keeps the present moment. */
  beat(): Promise<void> {
    return this.#store.transaction(() => this.keep());
  }
}
