import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '@farthing/protocol/clock';
import { type ErrorCode, FarthingError } from '@farthing/protocol/error';
import { payerTenantId } from '@farthing/protocol/id';
import type { Facilitator, SettledBy, Settlement } from '../facilitator/facilitator.ts';
import { faultOf } from '../facilitator/reasons.ts';
import { PaymentRefused } from '../fault.ts';
import type { Terms } from '../payment.ts';
import type { Answer, PaymentTiming } from '../purchase.ts';
import type { AnswerStore } from '../records/answers.ts';
import {
  asCommitted,
  asUndoing,
  type Chargeable,
  type ChargedRecord,
  type Delivered,
  type PaymentRecord,
  type Reserved,
  type Settled,
  type Settling,
  type Undoing,
} from '../records/payment-record.ts';
import type { PaymentRecords, SettledOutcome } from '../records/records.ts';
import type { Effects } from './effects.ts';
import { InFlightPurchase } from './in-flight-purchase.ts';
import type { InFlightRequests } from './in-flight-requests.ts';
import { Retries } from './retries.ts';

export interface SettlementDeps {
  readonly records: PaymentRecords;
  readonly facilitator: Facilitator;
  /** An answer waits until the note of its settlement is as durable as the store makes it. */
  readonly answersAfterNote: boolean;
  readonly effects: Effects;
  readonly answers: AnswerStore;
  readonly inFlight: InFlightRequests;
  readonly clock: Clock;
  /** How long a request waits for a settlement of unknown outcome. */
  readonly holdMsMax: number;
  readonly log: (event: Readonly<Record<string, unknown>>) => void;
}

/** A charged payment with its answer, which has no receipt yet. */
export interface Concluded {
  readonly answer: Answer;
  readonly record: ChargedRecord;
}

/** A request that waits for the outcome of its settlement. */
interface Held {
  /** Answer of pure work. */
  readonly answer: Answer | undefined;
  readonly resolve: (concluded: Concluded) => void;
  readonly reject: (error: unknown) => void;
}

/** How often the outcome is asked for while a request waits for it. */
const HELD_ASK_MS = 2000;
/** Nothing was asked of the facilitator, or it took no connection. */
const NOT_SENT: ReadonlySet<ErrorCode> = new Set([
  'facilitator_unavailable',
  'books_unavailable',
  'settlement_too_dear',
]);
/** An unknown outcome counts as settled when the facilitator is still silent this long after the authorization ended. */
const PRESUMED_AFTER_MS = 10 * 60_000;

/**
 * The stages after the work: settle, and then either release the answer or undo the effect. Knows no request: a start after a
 * crash passes through the same stages.
 */
export class Settlements {
  readonly #deps: SettlementDeps;
  readonly #retries: Retries;
  readonly #held = new Map<InFlightPurchase, Held>();
  #closing = false;

  constructor(deps: SettlementDeps) {
    this.#deps = deps;
    this.#retries = new Retries((purchase) => this.#attempt(purchase), deps.holdMsMax);
  }

  get pendingCount(): number {
    return this.#retries.size;
  }

  /**
   * Sends the settlement of a purchase whose record is durable as far as the facilitator needs it. `answer` is the finished work
   * of a pure request; an effect's answer comes from its commit.
   * @throws PaymentRefused (undone, free again), facilitator_unavailable (the same), settlement_pending.
   */
  async settle(
    purchase: InFlightPurchase,
    record: Reserved | Settling,
    terms: Terms,
    verifyMs: number,
    answer?: (timing: PaymentTiming) => Answer,
  ): Promise<Concluded> {
    const { facilitator, effects, log } = this.#deps;
    const startedAt = performance.now();
    purchase.settle(record);
    let settlement: Settlement;
    try {
      settlement = effects.weighed(await facilitator.settle(record.payment, terms), record.effect);
    } catch (error) {
      const notSent = error instanceof FarthingError && NOT_SENT.has(error.code);
      if (notSent || facilitator.outcomeIsKnowable) {
        await this.undo(purchase, record);
        throw error;
      }
      settlement = { kind: 'unknown', detail: String(error) };
    }
    const timing = { verify_ms: verifyMs, settle_ms: performance.now() - startedAt };
    const sent = { ...record, timing };
    if (settlement.kind === 'refused') return await this.#refuse(purchase, sent, settlement);
    // The payer may have been charged from here on: after any failure, the payment is completed in the background.
    purchase.record = sent;
    try {
      const concluded =
        settlement.kind === 'settled'
          ? await this.#conclude(purchase, sent, settlement, answer?.(timing))
          : await this.#resolve(purchase, sent, settlement.detail, answer?.(timing));
      if (concluded) return concluded;
    } catch (error) {
      if (error instanceof PaymentRefused) throw error;
      log({ level: 'error', event: 'settlement_unfinished', ...named(sent), error });
      this.#retries.begin(purchase);
      throw settlementPending({ cause: error });
    }
    this.#retries.begin(purchase);
    return await this.#hold(purchase, answer?.(timing));
  }

  /** The request waits while the outcome is asked for. @throws PaymentRefused; settlement_pending when it takes too long */
  async #hold(purchase: InFlightPurchase, answer: Answer | undefined): Promise<Concluded> {
    const giveUp = () => this.#held.get(purchase)?.reject(settlementPending());
    const timer = setTimeout(giveUp, this.#deps.holdMsMax);
    const asking = setInterval(() => void this.#retries.now(purchase), HELD_ASK_MS);
    purchase.signal.addEventListener('abort', giveUp, { once: true });
    try {
      return await new Promise<Concluded>((resolve, reject) => {
        this.#held.set(purchase, { answer, resolve, reject });
        if (this.#closing || purchase.signal.aborted) giveUp();
      });
    } finally {
      this.#held.delete(purchase);
      clearTimeout(timer);
      clearInterval(asking);
      purchase.signal.removeEventListener('abort', giveUp);
    }
  }

  /** Resumes a payment that a crash left half-way: its outcome is asked for in the background until it is finished. */
  adopt(key: string, record: PaymentRecord): InFlightPurchase {
    const { payment, requestHash, keyHash } = record;
    const purchase = new InFlightPurchase({ key, payer: payment.payer, requestHash, keyHash });
    purchase.record = record;
    purchase.fail(settlementPending());
    this.#deps.inFlight.add(purchase);
    this.#retries.begin(purchase);
    return purchase;
  }

  /**
   * Asks for a pending outcome now, and waits a moment for it.
   * @throws settlement_pending when it is still unknown; otherwise the purchase is finished and the caller can look again.
   */
  async hurry(purchase: InFlightPurchase): Promise<void> {
    await this.#retries.hurry(purchase);
    if (purchase.stage === 'unfinished') throw settlementPending();
  }

  /** One attempt to learn the outcome, or to finish what follows from it. */
  retryNow(purchase: InFlightPurchase): Promise<void> {
    return this.#retries.now(purchase);
  }

  async close(): Promise<void> {
    this.#closing = true;
    for (const { reject } of this.#held.values()) reject(settlementPending());
    await this.#retries.close();
  }

  /**
   * The outcome is unknown: records that, and makes the first attempt to learn it.
   * @returns undefined when it is still unknown.
   * @throws PaymentRefused, and errors that prevent writing the store
   */
  #resolve(
    purchase: InFlightPurchase,
    sent: Reserved | Settling,
    detail: string,
    answer?: Answer,
  ): Promise<Concluded | undefined> {
    const { records, facilitator, answers, effects, log } = this.#deps;
    return this.#retries.beginWith(purchase, async () => {
      log({ level: 'warn', event: 'settlement_unknown', ...named(sent), detail });
      const pending = await records.pending(purchase.key, sent);
      purchase.record = pending;
      // The work may be asked for long after: it is not to be done again over an index that has changed.
      if (answer) await answers.keep(payerTenantId(purchase.payer), purchase.key, answer);
      const told = await facilitator.reconcile(sent.payment, sent.terms);
      const settlement = effects.weighed(told, sent.effect);
      switch (settlement.kind) {
        case 'settled':
          return await this.#conclude(purchase, pending, settlement, answer);
        case 'refused':
          return await this.#refuse(purchase, pending, settlement);
        case 'absent':
          return await this.#refuse(purchase, pending, { reason: NEVER_SETTLED });
        case 'unknown':
          return undefined;
        default:
          return settlement satisfies never;
      }
    });
  }

  /** Settled: notes it, and commits the effect. @returns undefined for pure work that has no answer at hand. */
  async #conclude(
    purchase: InFlightPurchase,
    record: Chargeable,
    outcome: SettledOutcome,
    answer?: Answer,
  ): Promise<Concluded | undefined> {
    const { records, answersAfterNote, log } = this.#deps;
    const settled = records.asSettled(record, outcome);
    // A payment that the ledger lists as pending is resolved there first.
    if (answer && !answersAfterNote && record.state !== 'pending') {
      purchase.noted = this.#noteBehind(purchase, settled).catch((error) => {
        log({ level: 'error', event: 'settlement_unfinished', ...named(record), error });
        purchase.record = record;
        this.#retries.begin(purchase);
      });
    } else {
      await records.settled(purchase.key, settled);
    }
    purchase.record = settled;
    purchase.answer = answer;
    // An effect's answer is withheld until it is committed.
    const concluded = answer ? { answer, record: settled } : await this.#commit(purchase, settled);
    this.#retries.end(purchase);
    return concluded;
  }

  /**
   * Records a finished purchase after its answer is sent: as delivered where its delivery is reported by then. After a crash, the record
   * from before the settlement makes a start ask for the outcome; nothing is charged twice, whatever it is.
   */
  async #noteBehind(purchase: InFlightPurchase, settled: Settled): Promise<void> {
    await turn();
    const noted: Settled | Delivered = purchase.delivered ? { ...settled, state: 'delivered' } : settled;
    await this.#deps.records.settled(purchase.key, noted);
    purchase.record = noted;
  }

  async #commit(purchase: InFlightPurchase, record: Settled): Promise<Concluded | undefined> {
    if (!record.effect) return undefined;
    const answer = await this.#deps.effects.commit(record.effect);
    await this.#deps.records.committed(purchase.key);
    const committed = asCommitted(record, record.effect);
    purchase.record = committed;
    return { answer, record: committed };
  }

  async #refuse(
    purchase: InFlightPurchase,
    record: Chargeable,
    { reason, by }: { readonly reason: string; readonly by?: SettledBy },
  ): Promise<never> {
    await this.undo(purchase, { ...record, by }, reason);
    throw new PaymentRefused(faultOf(reason), { atSettlement: true });
  }

  /**
   * Certainly not charged: no trace of the effect or of the answer may stay, and the authorization is free again.
   * An effect is undone only after this is recorded: it may be in another store, and a server that has lost ownership must not touch it.
   * Failed undos are tried again later.
   * @param reason why the settlement was refused, for the ledger
   */
  async undo(purchase: InFlightPurchase, record: Chargeable | Undoing, reason?: string): Promise<void> {
    const { records, effects, answers, log } = this.#deps;
    const undoing = asUndoing(record, reason);
    try {
      if (record.effect) {
        await records.undoing(purchase.key, undoing);
        await effects.undo(record.effect);
      } else await answers.remove(payerTenantId(purchase.payer), purchase.key);
      await records.free(purchase.key, reason === undefined ? undefined : { record, reason });
      this.#retries.end(purchase);
    } catch (error) {
      log({ level: 'error', event: 'effect_undo_failed', kind: record.effect?.kind, error });
      purchase.record = undoing;
      this.#retries.begin(purchase);
      await records
        .undoing(purchase.key, undoing)
        .catch((fault) => log({ level: 'error', event: 'effect_undo_failed', error: fault }));
    }
  }

  /** Takes an unfinished purchase as far as it goes. */
  async #attempt(purchase: InFlightPurchase): Promise<void> {
    const record = purchase.record!;
    try {
      switch (record.state) {
        case 'reserved':
        case 'settling':
        case 'pending':
          return await this.#reconcile(purchase, record);
        case 'undoing':
          return await this.#finishUndoing(purchase, record, record.refusal);
        case 'settled':
          return this.#tell(purchase, await this.#commit(purchase, record));
        case 'committed':
        case 'delivered':
          return this.#finish(purchase);
        default:
          return record satisfies never;
      }
    } catch (error) {
      this.#deps.log({ level: 'error', event: 'settlement_retry_failed', ...named(record), error });
    }
  }

  async #reconcile(purchase: InFlightPurchase, record: Chargeable): Promise<void> {
    const { facilitator, clock, effects } = this.#deps;
    const told = await facilitator.reconcile(record.payment, record.terms);
    const settlement = effects.weighed(told, record.effect);
    switch (settlement.kind) {
      case 'settled':
        return this.#tell(
          purchase,
          await this.#conclude(purchase, record, settlement, this.#held.get(purchase)?.answer),
        );
      case 'refused':
        return await this.#finishUndoing(purchase, { ...record, by: settlement.by }, settlement.reason);
      case 'absent':
        // The ledger lists a refusal only where it listed a settlement.
        return await this.#finishUndoing(
          purchase,
          record,
          record.state === 'pending' ? NEVER_SETTLED : undefined,
        );
      case 'unknown': {
        const silentMs = clock.now() - Number(record.payment.validBefore) * 1000;
        const { effect, payment } = record;
        // A deposit can be had back.
        if (silentMs < PRESUMED_AFTER_MS || payment.voucher || (effect && effects.needsProof(effect))) return;
        await this.#conclude(purchase, record, { transaction: '', presumed: true });
        return this.#finish(purchase);
      }
      default:
        return settlement satisfies never;
    }
  }

  async #finishUndoing(
    purchase: InFlightPurchase,
    record: Chargeable | Undoing,
    reason?: string,
  ): Promise<void> {
    await this.undo(purchase, record, reason);
    if (purchase.stage === 'unfinished') return;
    const held = this.#held.get(purchase);
    if (held) held.reject(new PaymentRefused(faultOf(reason ?? NEVER_SETTLED), { atSettlement: true }));
    else this.#finish(purchase);
  }

  /** The request that waits goes on with the answer; without one, those who come look again. */
  #tell(purchase: InFlightPurchase, concluded: Concluded | undefined): void {
    this.#retries.end(purchase);
    const held = this.#held.get(purchase);
    if (held && concluded) held.resolve(concluded);
    else {
      held?.reject(settlementPending());
      this.#finish(purchase);
    }
  }

  /** Nothing is left to do: those who wait look again. */
  #finish(purchase: InFlightPurchase): void {
    this.#retries.end(purchase);
    this.#deps.inFlight.remove(purchase);
    purchase.fail(settlementPending());
    purchase.finish();
  }
}

/** The ledger's reason for a settlement that was sent and never happened. */
const NEVER_SETTLED = 'settlement_failed';

/** Log fields that identify a payment. */
function named({ payment: { payer, nonce } }: PaymentRecord) {
  return { payer, nonce };
}

export function settlementPending(options: { cause?: unknown } = {}): FarthingError {
  return new FarthingError(
    'settlement_pending',
    'The outcome of the settlement is not known yet. Send the same request again with the same idempotency key, or with a freshly signed payment: it is not charged twice.',
    { retryAfterS: 2, ...options },
  );
}
