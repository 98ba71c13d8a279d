import { FarthingError } from '../../domain/error.ts';
import type { Answer, Quote, WorkOutcome } from '../../domain/payment.ts';
import type { Facilitator } from '../facilitator/facilitator.ts';
import { faultOf } from '../facilitator/reasons.ts';
import { PaymentRefused } from '../fault.ts';
import type { Terms } from '../payment.ts';
import type { PaymentRecord, PaymentRecords } from '../records/records.ts';
import { declareDiscovery } from '../wire/discovery.ts';
import type { PaidAttempt } from './attempt.ts';
import type { InFlightPurchase } from './in-flight-purchase.ts';
import type { Settlements } from './settlements.ts';

export interface Purchased {
  readonly charged: boolean;
  readonly answer: Answer;
}

export interface PurchaseDeps {
  readonly records: PaymentRecords;
  readonly facilitator: Facilitator;
  readonly settlements: Settlements;
}

/** The stages of one purchase whose flight is claimed: reserve → verify ∥ work → settle → answer. */
export class Purchases {
  readonly #parts: PurchaseDeps;

  constructor(parts: PurchaseDeps) {
    this.#parts = parts;
  }

  /** @throws PaymentRefused, or what the work threw; nothing is charged then and the authorization is free again. */
  async run(flight: InFlightPurchase, visit: PaidAttempt): Promise<Purchased> {
    const { prepared, request } = visit;
    const { records, settlements } = this.#parts;
    const record = this.#newRecord(flight, visit);
    const terms = termsOf(request.quote);
    const reserved = this.#reserve(flight, record);
    let outcome: WorkOutcome;
    let verifyMs: number;
    try {
      ({ outcome, verifyMs } =
        prepared.mode === 'pure'
          ? await this.#verifyBesideWork(flight, visit, terms, reserved)
          : await this.#verifyThenWork(flight, visit, terms, reserved));
    } catch (error) {
      await reserved.then(
        () => records.free(flight.payment!),
        () => {},
      );
      throw error;
    }
    if (!outcome.charged) {
      await records.free(flight.payment!);
      return { charged: false, answer: outcome.answer };
    }
    const withEffect: PaymentRecord = 'effect' in outcome ? { ...record, effect: outcome.effect } : record;
    if (flight.signal.aborted) {
      await settlements.abandon(flight, withEffect);
      throw clientGone();
    }
    const answer = 'effect' in outcome ? undefined : outcome.answer;
    const noted = await this.#noteBeforeSettling(flight, withEffect);
    return { charged: true, answer: await settlements.settle(flight, noted, terms, verifyMs, answer) };
  }

  #newRecord(flight: InFlightPurchase, { payment, request: { quote } }: PaidAttempt): PaymentRecord {
    return {
      state: 'reserved',
      payment,
      terms: { amount: quote.amount, resource: quote.resource, description: quote.description },
      route: routeOf(quote),
      requestHash: flight.requestHash,
      keyHash: flight.keyHash,
    };
  }

  /** Durable put-if-absent. The flight's claim in memory came first, so this fails only for a record of another life. */
  async #reserve(flight: InFlightPurchase, record: PaymentRecord): Promise<void> {
    if (!(await this.#parts.records.reserve(flight.payment!, record)))
      throw new PaymentRefused('authorization_already_used');
  }

  /** Work without side effects costs nobody anything when the payment turns out to be bad: it runs meanwhile. */
  async #verifyBesideWork(
    flight: InFlightPurchase,
    visit: PaidAttempt,
    terms: Terms,
    reserved: Promise<void>,
  ) {
    const [verified, worked, reservation] = await Promise.allSettled([
      this.#verify(visit, terms),
      visit.prepared.run(flight.signal),
      reserved,
    ]);
    if (verified.status === 'rejected') throw verified.reason;
    if (reservation.status === 'rejected') throw reservation.reason;
    if (worked.status === 'rejected') throw worked.reason;
    return { outcome: worked.value, verifyMs: verified.value };
  }

  async #verifyThenWork(flight: InFlightPurchase, visit: PaidAttempt, terms: Terms, reserved: Promise<void>) {
    const [verified, reservation] = await Promise.allSettled([this.#verify(visit, terms), reserved]);
    if (verified.status === 'rejected') throw verified.reason;
    if (reservation.status === 'rejected') throw reservation.reason;
    return { outcome: await visit.prepared.run(flight.signal), verifyMs: verified.value };
  }

  /** Milliseconds it took. @throws PaymentRefused, facilitator_unavailable */
  async #verify({ payment, verifiedMs }: PaidAttempt, terms: Terms): Promise<number> {
    if (verifiedMs !== undefined) return verifiedMs;
    const startedAt = performance.now();
    const verification = await this.#parts.facilitator.verify(payment, terms);
    if (!verification.valid) throw new PaymentRefused(faultOf(verification.reason));
    return performance.now() - startedAt;
  }

  /** What a start after a crash needs, durable before the settlement is sent. */
  async #noteBeforeSettling(flight: InFlightPurchase, record: PaymentRecord): Promise<PaymentRecord> {
    const { records, facilitator, settlements } = this.#parts;
    if (record.effect === undefined && facilitator.outcomeIsKnowable) return record;
    try {
      return await records.settling(flight.payment!, record);
    } catch (error) {
      await settlements.abandon(flight, record);
      throw error;
    }
  }
}

export function termsOf(quote: Quote): Terms {
  const { amount, resource, description, discovery } = quote;
  return { amount, resource, description, bazaar: declareDiscovery(discovery).bazaar };
}

export function clientGone(): FarthingError {
  return new FarthingError('request_malformed', 'The client closed the connection.');
}

/** The route with ids left out, as the books and counters name it. */
export function routeOf({ discovery }: Quote): string {
  return `${discovery.method} ${discovery.routeTemplate}`;
}
