import { type Clock, MINUTE_MS, toTimestamp } from '@farthing/protocol/clock';
import type { Store, Table } from '../../state/store.ts';

interface Heartbeat {
  readonly rented: number;
  readonly wall: number;
}

export interface RentedTimeOptions {
  /** Minutes of downtime that a start gives back. Downtime beyond that passes as if the server had been up. */
  readonly downtimeRefundMinutesMax: number;
  /** Milliseconds from any origin, never going back. Default: the process's monotonic clock. */
  readonly monotonic?: () => number;
}

/** Rented time as answers show it. */
export type RentedClock = Pick<RentedTime, 'now' | 'toWall'>;

const KEY = 'heartbeat';
/** Both clocks give whole milliseconds, but their milliseconds do not begin together. */
const ROUNDING_MS = 2;
/** At the clocks, when one has jumped, until the thread is not stopped between them. */
const LOOKS_MAX = 8;

/**
 * The time that tenants rent, in milliseconds. It passes only while the server is up.
 *
 * It advances with a monotonic source, so that no jump of the wall clock shortens or lengthens a rented minute. A
 * heartbeat keeps (rented, wall) on the disk, and a start continues from it. The downtime is the difference of the wall
 * clock, or nothing if that clock went backwards. Up to `downtimeRefundMinutesMax` of it is given back; the rest has
 * passed. A crash also gives back the time since the last heartbeat: one interval at most, in the tenant's favour.
 * Every payment is committed together with a heartbeat, so that no commit is in the future after a crash.
 *
 *     rented ──────●━━━━━━━━●            ●━━━━━━━━━━▶     paused while the server is down
 *     wall   ──────●━━━━━━━━●┈┈┈ down ┈┈┈●━━━━━━━━━━▶
 */
export class RentedTime {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #monotonic: () => number;
  readonly #table: Table<Heartbeat>;
  readonly #origin: number;
  /** Lead of the wall clock at the last conversion. */
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
    const passed = Math.max(0, down - downtimeRefundMinutesMax * MINUTE_MS);
    this.#origin = (last?.rented ?? 0) + passed - monotonic();
  }

  /** Whole milliseconds of rented time since the server's first start, never going back. */
  now(): number {
    return Math.floor(this.#origin + this.#monotonic());
  }

  /**
   * Wall clock, in milliseconds, at a moment of rented time as it looks now. It stays the same until a clock jumps: a busy machine may
   * stop this thread between its looks at two clocks, so the lead of the one is known to lie between two values.
   */
  toWall(rented: number): number {
    let [least, most] = this.#lead();
    if (this.#ahead < least - ROUNDING_MS || this.#ahead > most + ROUNDING_MS) {
      for (let looks = 1; most > least + ROUNDING_MS && looks < LOOKS_MAX; looks++)
        [least, most] = this.#lead();
      this.#ahead = most;
    }
    return rented + this.#ahead;
  }

  /** Least and most by which the wall clock is ahead. */
  #lead(): [least: number, most: number] {
    const before = this.now();
    const wall = this.#clock.now();
    return [wall - this.now(), wall - before];
  }

  /** RFC 3339 of a moment of rented time, as it looks now. */
  toTimestamp(rented: number): string {
    return toTimestamp(this.toWall(rented));
  }

  /** Inside a transaction: writes the present moment with it. */
  keep(): void {
    void this.#table.put(KEY, { rented: this.now(), wall: this.#clock.now() });
  }

  /** Writes the present moment. */
  beat(): Promise<void> {
    return this.#store.transaction(() => this.keep());
  }
}
