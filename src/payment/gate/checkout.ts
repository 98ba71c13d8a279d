import type { Answer, Quote, WorkOutcome } from '../../domain/payment.ts';
import type { Facilitator } from '../facilitator/facilitator.ts';
import { PaymentRefused } from '../fault.ts';
import type { Terms } from '../payment.ts';
import type { Reserved, Settling } from '../records/payment-record.ts';
import type { PaymentRecords } from '../records/records.ts';
import { declareDiscovery } from '../wire/discovery.ts';
import { clientGone, type PaidAttempt } from './attempt.ts';
import type { InFlightPurchase } from './in-flight-purchase.ts';
import type { Concluded, Settlements } from './settlements.ts';
import type { Verifications } from './verifications.ts';

export interface CheckoutDeps {
  readonly records: PaymentRecords;
  readonly facilitator: Facilitator;
  readonly settlements: Settlements;
  readonly verifications: Verifications;
}

/** The result of a purchase, before the receipt is attached. */
export type Bought =
  | { readonly charged: false; readonly answer: Answer }
  | ({ readonly charged: true } & Concluded);

interface Worked {
  readonly outcome: WorkOutcome;
  readonly verifyMs: number;
  /** What was written for the settlement beside the work. */
  readonly noted?: Promise<Settling>;
}

/** The stages of one purchase that has its claim: reserve → verify ∥ work → settle → answer. */
export class Checkout {
  readonly #deps: CheckoutDeps;

  constructor(deps: CheckoutDeps) {
    this.#deps = deps;
  }

  /** @throws PaymentRefused, or what the work threw; nothing is charged then and the authorization is free again. */
  async run(purchase: InFlightPurchase, attempt: PaidAttempt): Promise<Bought> {
    const { records, settlements } = this.#deps;
    const record = newRecord(attempt);
    const terms = termsOf(attempt.request.quote);
    const reserved = this.#reserve(purchase, record);
    let worked: Worked;
    try {
      worked =
        attempt.request.mode === 'pure'
          ? await this.#verifyBesideWork(purchase, attempt, terms, record, reserved)
          : await this.#verifyThenWork(purchase, attempt, terms, reserved);
    } catch (error) {
      await reserved.then(
        () => records.free(purchase.key),
        () => {},
      );
      throw error;
    }
    const { outcome, verifyMs, noted: early } = worked;
    if (!outcome.charged) {
      await records.free(purchase.key);
      return { charged: false, answer: outcome.answer };
    }
    const withEffect: Reserved = 'effect' in outcome ? { ...record, effect: outcome.effect } : record;
    if (purchase.signal.aborted) {
      await settlements.abandon(purchase, withEffect);
      throw clientGone();
    }
    const answer = 'effect' in outcome ? undefined : outcome.answer;
    const noted = await this.#noteBeforeSettling(purchase, withEffect, early);
    return { charged: true, ...(await settlements.settle(purchase, noted, terms, verifyMs, answer)) };
  }

  /** Durable put-if-absent. The claim in memory came first, so this fails only for a record left by an earlier run of the server. */
  async #reserve(purchase: InFlightPurchase, record: Reserved): Promise<void> {
    if (!(await this.#deps.records.reserve(purchase.key, record)))
      throw new PaymentRefused('authorization_already_used');
  }

  /**
   * Work without side effects costs nobody anything when the payment turns out to be bad: it runs beside the verification. Once both the
   * payment is verified and the work is sure to be charged, the note that the settlement needs is written beside the rest of the work.
   */
  async #verifyBesideWork(
    purchase: InFlightPurchase,
    attempt: PaidAttempt,
    terms: Terms,
    record: Reserved,
    reserved: Promise<void>,
  ): Promise<Worked> {
    let noted: Promise<Settling> | undefined;
    let willCharge = (): void => {};
    const sure = new Promise<void>((resolve) => {
      willCharge = resolve;
    });
    const verifying = this.#verify(purchase, attempt, terms);
    const working = attempt.request.run(purchase.signal, willCharge);
    if (this.#isNotedBeforeSettling(record)) {
      let isOver = false;
      const note = () => {
        if (isOver || purchase.signal.aborted) return;
        noted = this.#deps.records.settling(purchase.key, record);
        // Whoever settles waits for it; where the work fails after all, its failure counts.
        noted.catch(noop);
      };
      void Promise.all([verifying, reserved, sure]).then(note, noop);
      const over = () => {
        isOver = true;
      };
      working.then(over, over);
    }
    const [verified, worked, reservation] = await Promise.allSettled([verifying, working, reserved]);
    if (verified.status === 'rejected') throw verified.reason;
    if (reservation.status === 'rejected') throw reservation.reason;
    if (worked.status === 'rejected') throw worked.reason;
    return { outcome: worked.value, verifyMs: verified.value, ...(noted && { noted }) };
  }

  async #verifyThenWork(
    purchase: InFlightPurchase,
    attempt: PaidAttempt,
    terms: Terms,
    reserved: Promise<void>,
  ): Promise<Worked> {
    const [verified, reservation] = await Promise.allSettled([
      this.#verify(purchase, attempt, terms),
      reserved,
    ]);
    if (verified.status === 'rejected') throw verified.reason;
    if (reservation.status === 'rejected') throw reservation.reason;
    return { outcome: await attempt.request.run(purchase.signal, noop), verifyMs: verified.value };
  }

  /** Milliseconds it took. @throws PaymentRefused, facilitator_unavailable, overloaded */
  async #verify(
    purchase: InFlightPurchase,
    { payment, verifiedMs }: PaidAttempt,
    terms: Terms,
  ): Promise<number> {
    return verifiedMs ?? (await this.#deps.verifications.verify(payment, terms, purchase));
  }

  /** Whether recovery needs a note of its own that the settlement may have been sent. */
  #isNotedBeforeSettling({ effect }: Reserved): boolean {
    return effect !== undefined || !this.#deps.facilitator.outcomeIsKnowable;
  }

  /** Writes what recovery will need, before the settlement is sent. @param early the same, begun beside the work */
  async #noteBeforeSettling(
    purchase: InFlightPurchase,
    record: Reserved,
    early?: Promise<Settling>,
  ): Promise<Reserved | Settling> {
    const { records, settlements } = this.#deps;
    if (!this.#isNotedBeforeSettling(record)) return record;
    try {
      return await (early ?? records.settling(purchase.key, record));
    } catch (error) {
      await settlements.abandon(purchase, record);
      throw error;
    }
  }
}

function noop(): void {}

function newRecord({ payment, requestHash, keyHash, request: { quote } }: PaidAttempt): Reserved {
  const { amount, resource, description } = quote;
  return {
    state: 'reserved',
    payment,
    terms: { amount, resource, description },
    route: routeOf(quote),
    requestHash,
    keyHash,
  };
}

export function termsOf(quote: Quote): Terms {
  const { amount, resource, description, discovery } = quote;
  return { amount, resource, description, bazaar: declareDiscovery(discovery).bazaar };
}

/** The route with ids left out, as the books name it. */
function routeOf({ discovery }: Quote): string {
  return `${discovery.method} ${discovery.routeTemplate}`;
}
