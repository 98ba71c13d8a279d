import { payerTenantId } from '../../domain/id.ts';
import type { Answer, GateAnswer } from '../../domain/payment.ts';
import type { Asset } from '../asset.ts';
import type { Payment } from '../payment.ts';
import type { AnswerStore } from '../records/answers.ts';
import type { PaymentRecord, PaymentRecords } from '../records/records.ts';
import { mirroredNetwork, receiptHeaders } from '../wire/receipt.ts';
import type { InFlightPurchase, InFlightPurchases } from './in-flight-purchase.ts';
import type { Settlements } from './settlements.ts';

/** An answer whose delivery nobody reports counts as lost: others of its payer wait for the report. */
const DELIVERY_REPORT_MS = 120_000;

export interface DeliveryDeps {
  readonly records: PaymentRecords;
  readonly answers: AnswerStore;
  readonly flights: InFlightPurchases;
  readonly settlements: Settlements;
  readonly asset: Asset;
  readonly log: (event: Readonly<Record<string, unknown>>) => void;
}

/** The last stages: release the answer with its receipt, and note whether it went out. */
export class Deliveries {
  readonly #parts: DeliveryDeps;

  constructor(parts: DeliveryDeps) {
    this.#parts = parts;
  }

  /** The answer with both receipt headers, in the words of the client that asks. */
  withReceipt(answer: Answer, record: PaymentRecord, payment: Payment): Answer {
    const settled = {
      payer: record.payment.payer,
      amount: record.terms.amount.toString(),
      transaction: record.transaction ?? '',
      extra: record.extra,
    };
    const receipt = receiptHeaders(settled, mirroredNetwork(this.#parts.asset, payment.networkName));
    return { ...answer, headers: { 'Cache-Control': 'private', ...answer.headers, ...receipt } };
  }

  /** The answer of a flight, for one of those who were to get it. */
  ofFlight(flight: InFlightPurchase, answer: Answer): GateAnswer {
    return reportedOnce(answer, (whole) => this.report(flight, whole));
  }

  /** The answer of a settled payment again, to whoever has its idempotency key. */
  again(payment: string, answer: Answer): GateAnswer {
    return reportedOnce(answer, (whole) => {
      if (whole) void this.#noted(this.#parts.records.delivered(payment));
    });
  }

  /** An owed answer: the next one of its payer waits until it is known whether this one went out. */
  ofRepetition(repetition: InFlightPurchase, payment: string, answer: Answer): GateAnswer {
    const { records, flights } = this.#parts;
    return reportedOnce(answer, (whole) => {
      void this.#noted(whole ? records.delivered(payment) : Promise.resolve()).then(() => {
        flights.remove(repetition);
        repetition.report(whole);
      });
    });
  }

  /** Notes a delivery after the settlement's own note; the flight is known until both are on the disk. */
  report(flight: InFlightPurchase, whole: boolean): void {
    const { records, flights, settlements } = this.#parts;
    const noted = flight.noted
      .then(() => this.#keep(flight, whole))
      .then(() => (whole ? records.delivered(flight.payment!) : undefined));
    flight.noted = this.#noted(noted);
    void flight.noted.then(() => {
      flight.report(whole);
      if (flight.isOver && !settlements.isPending(flight)) flights.remove(flight);
    });
  }

  /** Keeps an answer that may be asked for again: one that did not go out, or whose request has an idempotency key. */
  async #keep({ answer, keyHash, payer, payment }: InFlightPurchase, whole: boolean): Promise<void> {
    if (answer && (!whole || keyHash !== undefined))
      await this.#parts.answers.keep(payerTenantId(payer), payment!, answer);
  }

  async #noted(note: Promise<void>): Promise<void> {
    try {
      await note;
    } catch (error) {
      this.#parts.log({ level: 'error', event: 'payment_note_failed', error });
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
