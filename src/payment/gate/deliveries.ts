import type { Clock } from '@farthing/protocol/clock';
import { payerTenantId } from '@farthing/protocol/id';
import type { Payment } from '../payment.ts';
import type { Answer, GateAnswer } from '../purchase.ts';
import type { AnswerStore } from '../records/answers.ts';
import type { ChargedRecord } from '../records/payment-record.ts';
import type { PaymentRecords } from '../records/records.ts';
import { mirroredNetwork, receiptHeaders } from '../wire/receipt.ts';
import { type SignClaims, signedReceipt } from '../wire/signed-receipt.ts';
import type { InFlightPurchase } from './in-flight-purchase.ts';
import type { InFlightRepetition, InFlightRequests } from './in-flight-requests.ts';

/** Without a report of its delivery an answer counts as lost: other requests of its payer wait for the report. */
const DELIVERY_REPORT_MS = 120_000;

export interface DeliveryDeps {
  readonly records: PaymentRecords;
  readonly answers: AnswerStore;
  readonly inFlight: InFlightRequests;
  readonly clock: Clock;
  /** Absent: receipts are not signed. */
  readonly sign?: SignClaims | undefined;
  readonly log: (event: Readonly<Record<string, unknown>>) => void;
}

/** The last stages: release the answer with its receipt, and note whether it went out. */
export class Deliveries {
  readonly #deps: DeliveryDeps;

  constructor(deps: DeliveryDeps) {
    this.#deps = deps;
  }

  /** The answer with both receipt headers, in the words of the client that asks. */
  withReceipt(answer: Answer, record: ChargedRecord, payment: Payment): Answer {
    const settled = {
      payer: record.payment.payer,
      amount: record.terms.amount.toString(),
      transaction: record.transaction,
      // A voucher that is not the one that paid stays unused.
      extra:
        payment.voucher && payment.nonce !== record.payment.nonce ? { chargedAmount: '0' } : record.extra,
    };
    const { sign, clock } = this.#deps;
    const receipt = receiptHeaders(
      settled,
      mirroredNetwork(record.payment.asset, payment.networkName),
      sign && signedReceipt(record, clock.now(), sign),
    );
    return { ...answer, headers: { 'Cache-Control': 'private', ...answer.headers, ...receipt } };
  }

  /** The answer of a purchase, for one of those who were to get it. */
  ofPurchase(purchase: InFlightPurchase, answer: Answer): GateAnswer {
    return reportedOnce(answer, (whole) => this.report(purchase, whole));
  }

  /** The answer of a charged payment again. */
  again(key: string, answer: Answer): GateAnswer {
    return reportedOnce(answer, (whole) => {
      if (whole) void this.#logged(this.#deps.records.delivered(key));
    });
  }

  /** An owed answer: the payer's next request for it waits until it is known whether this one went out. */
  ofRepetition(repetition: InFlightRepetition, key: string, answer: Answer): GateAnswer {
    const { records, inFlight } = this.#deps;
    return reportedOnce(answer, (whole) => {
      void this.#logged(whole ? records.delivered(key) : Promise.resolve()).then(() => {
        inFlight.remove(repetition);
        repetition.finish();
      });
    });
  }

  /** Notes a delivery after the settlement's own note; the purchase is known until both are on the disk. */
  report(purchase: InFlightPurchase, whole: boolean): void {
    const { records, inFlight } = this.#deps;
    purchase.delivered ||= whole;
    const isToNote = () => whole && purchase.record?.state !== 'delivered';
    const noted = purchase.noted
      .then(() => this.#keep(purchase, whole))
      .then(() => (isToNote() ? records.delivered(purchase.key) : undefined));
    purchase.noted = this.#logged(noted);
    void purchase.noted.then(() => {
      purchase.report();
      if (purchase.stage === 'over') inFlight.remove(purchase);
    });
  }

  /** Keeps an answer that may be asked for again: one that did not go out, or whose request has an idempotency key. */
  async #keep({ answer, keyHash, payer, key }: InFlightPurchase, whole: boolean): Promise<void> {
    if (answer && (!whole || keyHash !== undefined))
      await this.#deps.answers.keep(payerTenantId(payer), key, answer);
  }

  async #logged(note: Promise<void>): Promise<void> {
    try {
      await note;
    } catch (error) {
      this.#deps.log({ level: 'error', event: 'payment_note_failed', error });
    }
  }
}

/** Nothing was charged, so nothing is owed if it gets lost. */
export function undeliverable(answer: Answer): GateAnswer {
  return { ...answer, delivered: () => {} };
}

function reportedOnce(answer: Answer, report: (whole: boolean) => void): GateAnswer {
  let reported = false;
  const delivered = (whole: boolean) => {
    clearTimeout(forgotten);
    if (!reported) report(whole);
    reported = true;
  };
  const forgotten = setTimeout(delivered, DELIVERY_REPORT_MS, false).unref();
  return { ...answer, delivered };
}
