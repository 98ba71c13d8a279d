import type { Facilitator } from '../facilitator/facilitator.ts';
import { alreadyUsed, PaymentRefused } from '../fault.ts';
import type { Effect } from '../purchase.ts';
import type { Reserved, Settling } from '../records/payment-record.ts';
import type { PaymentRecords } from '../records/records.ts';

/**
 * The record of a purchase before its settlement is sent, so that a start after a crash asks for its outcome. Where the outcome can be
 * asked for, or the work has an effect, a reservation is written at once. Any other purchase has no record until its settlement may be
 * sent: the claim in memory reserves its authorization, and a start would drop a reservation.
 */
export class SettlementNote {
  readonly #records: PaymentRecords;
  readonly #key: string;
  readonly #record: Reserved;
  readonly #isReserved: boolean;
  /** Whether the reservation says enough, unless there is an effect. */
  readonly #outcomeIsKnowable: boolean;
  readonly #reserving: Promise<void>;
  #settling: Promise<Settling> | undefined;

  constructor(
    records: PaymentRecords,
    { outcomeIsKnowable }: Facilitator,
    { key, record, mode }: { key: string; record: Reserved; mode: 'pure' | 'effect' },
  ) {
    this.#records = records;
    this.#key = key;
    this.#record = record;
    // Prepaid money, and a voucher's, is taken by the note itself: no write is waited for after the work.
    const { isPrepaid, isEscrow } = record.payment.asset;
    this.#outcomeIsKnowable = outcomeIsKnowable && !isPrepaid && !isEscrow;
    this.#isReserved = this.#outcomeIsKnowable || mode === 'effect';
    this.#reserving = this.#isReserved ? this.#reserve() : Promise.resolve();
  }

  /** @throws PaymentRefused, or why the store cannot be written */
  get reserved(): Promise<void> {
    return this.#reserving;
  }

  /** Starts writing the note while pure work still runs. If that fails, `complete` throws. */
  hasten(): void {
    if (!this.#outcomeIsKnowable) this.#settle(this.#record).catch(noop);
  }

  /** Resolves once a settlement may be sent. @throws PaymentRefused, or why the store cannot be written */
  async complete(effect?: Effect): Promise<Reserved | Settling> {
    const record = effect === undefined ? this.#record : { ...this.#record, effect };
    if (effect === undefined && this.#outcomeIsKnowable) return record;
    return await (this.#settling ?? this.#settle(record));
  }

  /** Whether this purchase has a record by now; that of another doesn't count. */
  isWritten(): Promise<boolean> {
    return (this.#settling ?? this.#reserving).then(
      () => this.#isReserved || this.#settling !== undefined,
      () => false,
    );
  }

  /** Durable put-if-absent. The claim in memory came first, so this fails only for a record left by an earlier run of the server. */
  async #reserve(): Promise<void> {
    if (!(await this.#records.reserve(this.#key, this.#record))) throw alreadyUsed();
  }

  #settle(record: Reserved): Promise<Settling> {
    this.#settling = this.#records.settling(this.#key, record).then((settling) => {
      if (!settling) throw alreadyUsed();
      if (settling.state === 'not taken') throw new PaymentRefused(settling.reason, { atSettlement: true });
      return settling;
    });
    return this.#settling;
  }
}

function noop(): void {}
