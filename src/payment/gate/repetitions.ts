import { FarthingError } from '@farthing/protocol/error';
import { payerTenantId } from '@farthing/protocol/id';
import type { Answer, GateAnswer } from '../purchase.ts';
import type { AnswerStore } from '../records/answers.ts';
import { type ChargedRecord, isCharged } from '../records/payment-record.ts';
import type { PaymentRecords } from '../records/records.ts';
import type { PaidAttempt } from './attempt.ts';
import type { Deliveries } from './deliveries.ts';
import type { Effects } from './effects.ts';
import type { InFlightPurchase } from './in-flight-purchase.ts';
import { InFlightRepetition, type InFlightRequests } from './in-flight-requests.ts';
import { settlementPending } from './settlements.ts';

/** It was charged long ago. */
const noop = () => {};

export interface RepetitionDeps {
  readonly records: PaymentRecords;
  readonly inFlight: InFlightRequests;
  readonly answers: AnswerStore;
  readonly effects: Effects;
  readonly deliveries: Deliveries;
}

/** Answers that were paid for, given again to their payer and uncharged: docs/payments.md, "Asking again". */
export class Repetitions {
  readonly #deps: RepetitionDeps;

  constructor(deps: RepetitionDeps) {
    this.#deps = deps;
  }

  /** The answer of a charged payment, to the holder of its request's idempotency key. */
  async again(attempt: PaidAttempt, key: string, record: ChargedRecord): Promise<GateAnswer> {
    return this.#deps.deliveries.again(key, await this.#answerOf(attempt, key, record));
  }

  /** The same while the first answer is still going out: as it was given, though an effect is answered anew. */
  async ofPurchase(
    attempt: PaidAttempt,
    { key, record, answer, noted }: InFlightPurchase,
  ): Promise<GateAnswer> {
    const { deliveries } = this.#deps;
    if (!record || !isCharged(record))
      throw new FarthingError('internal', 'An answer goes out without a charge.');
    if (answer) return deliveries.again(key, deliveries.withReceipt(answer, record, attempt.payment));
    await noted;
    return this.again(attempt, key, record);
  }

  /** An answer that was never delivered, to a fresh payment. The claim in memory is made before anything is awaited. */
  async owed(attempt: PaidAttempt, key: string, record: ChargedRecord): Promise<GateAnswer> {
    const { records, inFlight, deliveries } = this.#deps;
    const { payment, requestHash, keyHash } = attempt;
    const repetition = new InFlightRepetition({ payer: payment.payer, requestHash, keyHash });
    inFlight.add(repetition);
    try {
      if (keyHash !== undefined) await records.bindRequestKey(keyHash, key, requestHash);
      const answer = await this.#answerOf(attempt, key, record);
      return deliveries.ofRepetition(repetition, key, answer);
    } catch (error) {
      inFlight.remove(repetition);
      repetition.finish();
      throw error;
    }
  }

  /** Stored, reissued by its effect, or worked out anew when the stored one is lost; with the first receipt. */
  async #answerOf(attempt: PaidAttempt, key: string, record: ChargedRecord): Promise<Answer> {
    const answer = record.effect
      ? await this.#reissue(record)
      : await this.#storedOrAnew(attempt, key, record);
    return this.#deps.deliveries.withReceipt(answer, record, attempt.payment);
  }

  #reissue(record: ChargedRecord): Promise<Answer> {
    if (record.state === 'settled' || !record.effect) throw settlementPending();
    return this.#deps.effects.reissue(record.effect);
  }

  async #storedOrAnew(
    { payment, request }: PaidAttempt,
    key: string,
    record: ChargedRecord,
  ): Promise<Answer> {
    const { answers } = this.#deps;
    const tenant = payerTenantId(payment.payer);
    const stored = await answers.find(tenant, key);
    if (stored) return stored;
    const outcome = await request.run(request.signal, noop);
    if (!outcome.charged) return outcome.answer;
    if ('effect' in outcome) throw new FarthingError('internal', 'Pure work came back with an effect.');
    const answer = outcome.answer(record.timing);
    await answers.keep(tenant, key, answer);
    return answer;
  }
}
