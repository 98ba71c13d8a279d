import type { Clock } from '../../domain/clock.ts';
import { FarthingError } from '../../domain/error.ts';
import { payerTenantId } from '../../domain/id.ts';
import type { Answer, Effect, EffectHandler, PaymentTiming } from '../../domain/payment.ts';
import type { Facilitator, Settlement } from '../facilitator/facilitator.ts';
import { faultOf } from '../facilitator/reasons.ts';
import { PaymentRefused } from '../fault.ts';
import type { Terms } from '../payment.ts';
import type { AnswerStore } from '../records/answers.ts';
import type { PaymentRecord, PaymentRecords } from '../records/records.ts';
import { InFlightPurchase, type InFlightPurchases, NO_TIMING } from './in-flight-purchase.ts';

export type EffectHandlers = Readonly<Record<Effect['kind'], EffectHandler>>;

export interface SettlementDeps {
  readonly records: PaymentRecords;
  readonly facilitator: Facilitator;
  readonly handlers: EffectHandlers;
  readonly answers: AnswerStore;
  readonly flights: InFlightPurchases;
  readonly clock: Clock;
  readonly log: (event: Readonly<Record<string, unknown>>) => void;
}

/** An unknown outcome counts as settled when the facilitator is still silent so long after the authorization ended. */
const PRESUMED_AFTER_MS = 10 * 60_000;
const RETRY_FIRST_MS = 1000;
const RETRY_LAST_MS = 60_000;
/** How long a client's retry waits for a pending outcome before it is told to come back. */
const PENDING_WAIT_MS = 2000;

/** What is under way for a payment that is pending. */
interface Retry {
  delayMs: number;
  timer?: NodeJS.Timeout;
  running?: Promise<void>;
}

/**
 * The stages after the work: settle, and then either release the answer or undo the effect. Knows no request: a start after a
 * crash passes the same way.
 */
export class Settlements {
  readonly #parts: SettlementDeps;
  /** The payments that are pending. */
  readonly #retries = new Map<InFlightPurchase, Retry>();
  #closed = false;

  constructor(parts: SettlementDeps) {
    this.#parts = parts;
  }

  get pendingCount(): number {
    return this.#retries.size;
  }

  /** The outcome of its settlement is not known yet, or something that follows from it is still to be done. */
  isPending(flight: InFlightPurchase): boolean {
    return this.#retries.has(flight);
  }

  /**
   * Sends the settlement of a flight whose record is durable as far as the facilitator needs it. `answer` is the finished work
   * of a pure request; an effect's answer comes from its commit.
   * @returns the answer without receipt. @throws PaymentRefused (undone, free again), facilitator_unavailable (the same), settlement_pending.
   */
  async settle(
    flight: InFlightPurchase,
    record: PaymentRecord,
    terms: Terms,
    verifyMs: number,
    answer?: (timing: PaymentTiming) => Answer,
  ): Promise<Answer> {
    const { facilitator, log } = this.#parts;
    const startedAt = performance.now();
    flight.settlementSent = true;
    flight.record = record;
    let settlement: Settlement;
    try {
      settlement = await facilitator.settle(record.payment, terms);
    } catch (error) {
      await this.#undo(flight, record);
      throw error;
    }
    const timing = { verify_ms: verifyMs, settle_ms: performance.now() - startedAt };
    const sent: PaymentRecord = { ...record, timing };
    if (settlement.kind === 'refused') return await this.#refuse(flight, sent, settlement);
    // From here on the payer may have been charged: whatever goes wrong, the payment is taken to its end in the background.
    flight.record = sent;
    try {
      const concluded =
        settlement.kind === 'settled'
          ? await this.#conclude(flight, sent, settlement, answer?.(timing))
          : await this.#resolve(flight, settlement.detail, answer?.(timing));
      if (concluded) return concluded;
    } catch (error) {
      if (error instanceof PaymentRefused) throw error;
      log({ level: 'error', event: 'settlement_unfinished', ...named(sent), error });
      this.#retryLater(flight);
      throw settlementPending({ cause: error });
    }
    this.#retryLater(flight);
    throw settlementPending();
  }

  /** Certainly not charged: no trace of the effect or of the answer may stay, and the authorization is free again. */
  abandon(flight: InFlightPurchase, record: PaymentRecord): Promise<void> {
    return this.#undo(flight, record);
  }

  /** Takes up a payment that a crash left half-way: it is asked for in the background until it is done. */
  adopt(key: string, record: PaymentRecord): InFlightPurchase {
    const { payment, requestHash, keyHash } = record;
    const flight = new InFlightPurchase({ payment: key, payer: payment.payer, requestHash, keyHash });
    flight.settlementSent = true;
    flight.record = record;
    flight.fail(settlementPending());
    this.#parts.flights.add(flight);
    this.#retryLater(flight);
    return flight;
  }

  /**
   * Asks for a pending outcome now, and waits a moment for it.
   * @throws settlement_pending when it is still unknown; otherwise the flight is over and the caller can look again.
   */
  async hurry(flight: InFlightPurchase): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const moment = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, PENDING_WAIT_MS);
    });
    const attempt = Promise.all([this.retryNow(flight), flight.ended.then(noop, noop)]);
    await Promise.race([attempt, moment]);
    clearTimeout(timer);
    if (this.isPending(flight)) throw settlementPending();
  }

  /** One attempt to learn the outcome, or to finish what follows from it; attempts of one flight never overlap. */
  retryNow(flight: InFlightPurchase): Promise<void> {
    const retry = this.#retries.get(flight);
    if (!retry || this.#closed) return Promise.resolve();
    clearTimeout(retry.timer);
    retry.running ??= this.#attempt(flight).finally(() => {
      retry.running = undefined;
      this.#schedule(flight);
    });
    return retry.running;
  }

  async close(): Promise<void> {
    this.#closed = true;
    const running = [...this.#retries.values()].map((retry) => {
      clearTimeout(retry.timer);
      return retry.running;
    });
    await Promise.allSettled(running);
  }

  /**
   * The outcome was not told: the payment is pending, and the first attempt to learn what became of it.
   * @returns undefined when it is still unknown. @throws PaymentRefused, and whatever keeps the books from being written
   */
  async #resolve(flight: InFlightPurchase, detail: string, answer?: Answer): Promise<Answer | undefined> {
    const { records, facilitator, answers, log } = this.#parts;
    let over!: () => void;
    const running = new Promise<void>((resolve) => {
      over = resolve;
    });
    const retry: Retry = { delayMs: RETRY_FIRST_MS, running };
    this.#retries.set(flight, retry);
    try {
      const sent = flight.record!;
      log({ level: 'warn', event: 'settlement_unknown', ...named(sent), detail });
      const pending = await records.pending(flight.payment!, sent);
      flight.record = pending;
      // The work may be asked for long after: it is not to be done again over an index that has changed.
      if (answer) await answers.keep(payerTenantId(flight.payer), flight.payment!, answer);
      const settlement = await facilitator.reconcile(sent.payment, sent.terms);
      if (settlement.kind === 'unknown') return undefined;
      if (settlement.kind !== 'settled') return await this.#refuse(flight, pending, settlement);
      return await this.#conclude(flight, pending, settlement, answer);
    } finally {
      retry.running = undefined;
      over();
      this.#schedule(flight);
    }
  }

  /** Settled: note it, commit the effect. @returns the request's answer, when there is one yet. */
  async #conclude(
    flight: InFlightPurchase,
    record: PaymentRecord,
    outcome: Pick<PaymentRecord, 'transaction' | 'extra' | 'presumed'>,
    answer?: Answer,
  ): Promise<Answer | undefined> {
    const { records, facilitator, log } = this.#parts;
    const { transaction, extra, presumed } = outcome;
    const settled = records.asSettled(record, {
      transaction,
      extra,
      presumed,
      timing: record.timing ?? NO_TIMING,
    });
    const noted = records.settled(flight.payment!, settled);
    if (answer && facilitator.outcomeIsKnowable) {
      // The note of a finished answer may come after the answer itself: its facilitator will tell again what it settled.
      flight.noted = noted.catch((error) => {
        log({ level: 'error', event: 'settlement_unfinished', ...named(record), error });
        flight.record = record;
        this.#retryLater(flight);
      });
    } else {
      await noted;
    }
    flight.record = settled;
    flight.answer = answer;
    // Nobody may have an effect's answer before it is committed.
    const concluded = answer ?? (await this.#commit(flight, settled));
    this.#retries.delete(flight);
    return concluded;
  }

  async #commit(flight: InFlightPurchase, record: PaymentRecord): Promise<Answer | undefined> {
    if (!record.effect) return undefined;
    const answer = await this.#parts.handlers[record.effect.kind].commit(record.effect.ref);
    await this.#parts.records.committed(flight.payment!);
    flight.record = { ...record, committed: true };
    return answer;
  }

  async #refuse(
    flight: InFlightPurchase,
    record: PaymentRecord,
    outcome: { kind: 'absent' } | { kind: 'refused'; reason: string },
  ): Promise<never> {
    const reason = outcome.kind === 'refused' ? outcome.reason : 'settlement_failed';
    await this.#undo(flight, record, reason);
    throw new PaymentRefused(faultOf(reason), { atSettlement: true });
  }

  /** `reason`: why the settlement was refused, for the books. What will not go is tried again later. */
  async #undo(flight: InFlightPurchase, record: PaymentRecord, reason?: string): Promise<void> {
    const { records, handlers, answers, log } = this.#parts;
    try {
      if (record.effect) await handlers[record.effect.kind].undo(record.effect.ref);
      else await answers.remove(payerTenantId(flight.payer), flight.payment!);
      await records.free(flight.payment!, reason === undefined ? undefined : { record, reason });
      this.#retries.delete(flight);
    } catch (error) {
      log({ level: 'error', event: 'effect_undo_failed', kind: record.effect?.kind, error });
      flight.record = { ...record, state: 'undoing', refusal: reason };
      this.#retryLater(flight);
      await records
        .undoing(flight.payment!, flight.record)
        .catch((fault) => log({ level: 'error', event: 'effect_undo_failed', error: fault }));
    }
  }

  async #attempt(flight: InFlightPurchase): Promise<void> {
    const { facilitator, clock, log } = this.#parts;
    const record = flight.record!;
    try {
      if (record.state === 'settled') {
        await this.#commit(flight, record);
        return this.#leavePending(flight, 'undelivered');
      }
      if (record.state === 'undoing') return await this.#finishUndo(flight, record, record.refusal);
      const settlement = await facilitator.reconcile(record.payment, record.terms);
      if (settlement.kind === 'refused') return await this.#finishUndo(flight, record, settlement.reason);
      if (settlement.kind === 'absent')
        return await this.#finishUndo(flight, record, record.pending ? 'settlement_failed' : undefined);
      const silentMs = clock.now() - Number(record.payment.validBefore) * 1000;
      if (settlement.kind === 'unknown' && silentMs < PRESUMED_AFTER_MS) return;
      await this.#conclude(
        flight,
        record,
        settlement.kind === 'settled' ? settlement : { transaction: '', presumed: true },
      );
      this.#leavePending(flight, 'undelivered');
    } catch (error) {
      log({ level: 'error', event: 'settlement_retry_failed', ...named(record), error });
    }
  }

  async #finishUndo(flight: InFlightPurchase, record: PaymentRecord, reason?: string): Promise<void> {
    await this.#undo(flight, record, reason);
    if (!this.isPending(flight)) this.#leavePending(flight, 'uncharged');
  }

  #leavePending(flight: InFlightPurchase, result: 'undelivered' | 'uncharged'): void {
    this.#retries.delete(flight);
    this.#parts.flights.remove(flight);
    flight.fail(settlementPending(), result);
  }

  #retryLater(flight: InFlightPurchase): void {
    if (!this.#retries.has(flight)) this.#retries.set(flight, { delayMs: RETRY_FIRST_MS });
    this.#schedule(flight);
  }

  #schedule(flight: InFlightPurchase): void {
    const retry = this.#retries.get(flight);
    if (!retry || retry.running || this.#closed) return;
    clearTimeout(retry.timer);
    retry.timer = setTimeout(() => void this.retryNow(flight), retry.delayMs).unref();
    retry.delayMs = Math.min(2 * retry.delayMs, RETRY_LAST_MS);
  }
}

/** Who it is about, for the log. */
function named({ payment: { payer, nonce } }: PaymentRecord) {
  return { payer, nonce };
}

function noop(): void {}

export function settlementPending(options: { cause?: unknown } = {}): FarthingError {
  return new FarthingError(
    'settlement_pending',
    'The outcome of the settlement is not known yet. Send the same request again with the same idempotency key, or with a freshly signed payment: it is not charged twice.',
    { retryAfterS: 2, ...options },
  );
}
