import { type Clock, MINUTE_MS } from '@farthing/protocol/clock';
import type { StepId } from '@farthing/protocol/id';
import type { AtomicAmount } from '@farthing/protocol/money';
import type { Store, Table } from '../../state/store.ts';
import type { RentedTime } from '../time/rented-time.ts';
import type { Reserve, ReserveReturn, WorkspaceRecord } from '../workspace.ts';

/**
 * The unused part of the reserves at a moment of rented time. They are the last minutes of the workspace's time, and the earliest is
 * used first. A minute that has begun is used.
 *
 *     now            endsAt
 *      ├── paid ──┼─ reserve ─┤
 */
export function unusedReserves({ reserves = [], endsAt }: WorkspaceRecord, now: number): Reserve[] {
  const minutes = reserves.reduce((sum, reserve) => sum + reserve.minutes, 0);
  let used = minutes - Math.min(minutes, Math.max(0, Math.floor((endsAt - now) / MINUTE_MS)));
  const unused: Reserve[] = [];
  for (const reserve of reserves) {
    const gone = Math.min(used, reserve.minutes);
    used -= gone;
    if (gone < reserve.minutes) unused.push({ ...reserve, minutes: reserve.minutes - gone });
  }
  return unused;
}

/** Minutes of reserves, and what was paid for them. */
export function sumOfReserves(reserves: readonly Reserve[]): { minutes: number; amount: AtomicAmount } {
  return reserves.reduce(
    (sum, { minutes, perMinute }) => ({
      minutes: sum.minutes + minutes,
      amount: sum.amount + perMinute * BigInt(minutes),
    }),
    { minutes: 0, amount: 0n },
  );
}

/**
 * Refunds unused reserves. A refund to a wallet is recorded in the transaction that takes the minutes away, and stays
 * recorded until the wallet's store has it.
 */
export class Reserves {
  readonly #time: RentedTime;
  readonly #clock: Clock;
  readonly #returns: Table<ReserveReturn>;

  constructor(store: Store, time: RentedTime, clock: Clock) {
    this.#time = time;
    this.#clock = clock;
    this.#returns = store.table('workspace_returns');
  }

  /** Inside a transaction: ends the reserves of a workspace. @returns its record without them */
  release(record: WorkspaceRecord): WorkspaceRecord {
    if (!record.reserves) return record;
    const unused = unusedReserves(record, this.#time.now());
    for (const { step, payer, money, minutes, perMinute } of unused)
      this.giveBack({ step, payer, money, amount: perMinute * BigInt(minutes) });
    const { minutes, amount } = sumOfReserves(unused);
    const { reserves: _, ...rest } = record;
    return { ...rest, endsAt: record.endsAt - minutes * MINUTE_MS, spend: record.spend - amount };
  }

  /** Inside a transaction: an amount is owed to a wallet. */
  giveBack(owed: Omit<ReserveReturn, 'time'>): void {
    void this.#returns.put(owed.step, { ...owed, time: this.#clock.now() });
  }

  /** Refunds not yet credited to their wallets, in order of their steps after `after`. */
  due(limit: number, after?: StepId): ReserveReturn[] {
    const start = after === undefined ? undefined : `${after}\0`;
    return Array.from(this.#returns.range({ start, limit }), ({ value }) => value);
  }

  /** The wallet's store has it. */
  async returned(step: StepId): Promise<void> {
    await this.#returns.remove(step);
  }
}
