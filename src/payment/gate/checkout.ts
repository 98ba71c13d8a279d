import type { Facilitator } from '../facilitator/facilitator.ts';
import { PaymentRefused } from '../fault.ts';
import type { Terms } from '../payment.ts';
import type { Answer, Quote, WorkOutcome } from '../purchase.ts';
import type { Reserved, Settling } from '../records/payment-record.ts';
import type { PaymentRecords } from '../records/records.ts';
import { declareDiscovery } from '../wire/discovery.ts';
import { clientGone, type PaidAttempt } from './attempt.ts';
import type { InFlightPurchase } from './in-flight-purchase.ts';
import { SettlementNote } from './settlement-note.ts';
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
}

/** The stages of one purchase that has its claim: note → verify ∥ work → settle → answer. */
export class Checkout {
  readonly #deps: CheckoutDeps;

  constructor(deps: CheckoutDeps) {
    this.#deps = deps;
  }

  /** @throws PaymentRefused, or what the work threw; nothing is charged then and the authorization is free again. */
  async run(purchase: InFlightPurchase, attempt: PaidAttempt): Promise<Bought> {
    const { records, facilitator, settlements } = this.#deps;
    const record = newRecord(attempt);
    const terms = termsOf(attempt.request.quote);
    const { mode } = attempt.request;
    const note = new SettlementNote(records, facilitator, { key: purchase.key, record, mode });
    /** Nothing will be charged: the authorization becomes free again, later where the store cannot be written now. */
    const drop = async () => {
      if (await note.isWritten()) await settlements.undo(purchase, record);
    };
    let worked: Worked;
    try {
      worked =
        mode === 'pure'
          ? await this.#verifyBesideWork(purchase, attempt, terms, note)
          : await this.#verifyThenWork(purchase, attempt, terms, note);
    } catch (error) {
      await drop();
      throw error;
    }
    const { outcome, verifyMs } = worked;
    if (!outcome.charged) {
      await drop();
      return { charged: false, answer: outcome.answer };
    }
    const [effect, answer] = 'effect' in outcome ? [outcome.effect] : [undefined, outcome.answer];
    const abandon = () => settlements.undo(purchase, effect ? { ...record, effect } : record);
    if (purchase.signal.aborted) {
      await abandon();
      throw clientGone();
    }
    let noted: Reserved | Settling;
    try {
      noted = await note.complete(effect);
    } catch (error) {
      // The record of another purchase is left alone.
      const isOther = error instanceof PaymentRefused && !(error.atSettlement && effect);
      if (!isOther) await abandon();
      throw error;
    }
    return { charged: true, ...(await settlements.settle(purchase, noted, terms, verifyMs, answer)) };
  }

  /**
   * Work without side effects runs beside the verification: if the payment is bad, nothing has to be undone. Once both the
   * payment is verified and the work is sure to be charged, the note that the settlement needs is written beside the rest of the work.
   */
  async #verifyBesideWork(
    purchase: InFlightPurchase,
    attempt: PaidAttempt,
    terms: Terms,
    note: SettlementNote,
  ): Promise<Worked> {
    let willCharge = noop;
    let isOver = false;
    const sure = new Promise<void>((resolve) => {
      willCharge = resolve;
    });
    const verifying = this.#verify(purchase, attempt, terms);
    const working = attempt.request.run(purchase.signal, willCharge).finally(() => {
      isOver = true;
    });
    const hasten = () => {
      if (!isOver && !purchase.signal.aborted) note.hasten();
    };
    void Promise.all([verifying, note.reserved, sure]).then(hasten, noop);
    const [verified, worked, reserved] = await Promise.allSettled([verifying, working, note.reserved]);
    if (verified.status === 'rejected') throw verified.reason;
    if (reserved.status === 'rejected') throw reserved.reason;
    if (worked.status === 'rejected') throw worked.reason;
    return { outcome: worked.value, verifyMs: verified.value };
  }

  async #verifyThenWork(
    purchase: InFlightPurchase,
    attempt: PaidAttempt,
    terms: Terms,
    note: SettlementNote,
  ): Promise<Worked> {
    const [verified, reserved] = await Promise.allSettled([
      this.#verify(purchase, attempt, terms),
      note.reserved,
    ]);
    if (verified.status === 'rejected') throw verified.reason;
    if (reserved.status === 'rejected') throw reserved.reason;
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
}

function noop(): void {}

function newRecord({ payment, requestHash, keyHash, request: { quote } }: PaidAttempt): Reserved {
  const { discovery: _, ...terms } = quotedTerms(quote);
  return {
    state: 'reserved',
    payment,
    terms,
    route: routeOf(quote),
    requestHash,
    keyHash,
  };
}

export function termsOf(quote: Quote): Terms {
  const { discovery, ...terms } = quotedTerms(quote);
  return { ...terms, ...declareDiscovery(discovery) };
}

function quotedTerms({ amount, resource, description, discovery, paidIn, isRefund }: Quote) {
  return {
    amount,
    resource,
    description,
    discovery,
    ...(isRefund && { isRefund }),
    ...(paidIn === 'coin' && { isAdvance: true }),
  };
}

/** The route with ids left out, as the ledger names it. */
function routeOf({ discovery }: Quote): string {
  return `${discovery.method} ${discovery.routeTemplate}`;
}
