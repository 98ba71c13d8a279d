import { FarthingError } from '../../domain/error.ts';
import { payerTenantId } from '../../domain/id.ts';
import type { Answer, GateAnswer } from '../../domain/payment.ts';
import type { AnswerStore } from '../records/answers.ts';
import type { PaymentRecord, PaymentRecords } from '../records/records.ts';
import type { PaidAttempt } from './attempt.ts';
import type { Deliveries } from './deliveries.ts';
import { InFlightPurchase, type InFlightPurchases, NO_TIMING } from './in-flight-purchase.ts';
import { type EffectHandlers, settlementPending } from './settlements.ts';

export interface RepetitionDeps {
  readonly records: PaymentRecords;
  readonly flights: InFlightPurchases;
  readonly answers: AnswerStore;
  readonly handlers: EffectHandlers;
  readonly deliveries: Deliveries;
}

/** Answers that were paid for, given again to their payer and uncharged: rule 4 (b) and (c) of the decisions. */
export class Repetitions {
  readonly #parts: RepetitionDeps;

  constructor(parts: RepetitionDeps) {
    this.#parts = parts;
  }

  /** Rule 4(b), of a settled payment; undefined when its record has been swept meanwhile. */
  async ofSettled(visit: PaidAttempt, key: string): Promise<GateAnswer | undefined> {
    const answer = await this.#answerOf(visit, key);
    return answer && this.#parts.deliveries.again(key, answer);
  }

  /** Rule 4(b) while the first answer is still going out: as it was given, though an effect is answered anew. */
  async ofEnded(visit: PaidAttempt, flight: InFlightPurchase): Promise<GateAnswer | undefined> {
    const { deliveries } = this.#parts;
    const { record, answer } = flight;
    if (record && answer)
      return deliveries.again(flight.payment!, deliveries.withReceipt(answer, record, visit.payment));
    await flight.noted;
    return this.ofSettled(visit, flight.payment!);
  }

  /** Rule 4(c): an answer that was never delivered. The claim in memory is made before anything is awaited. */
  async ofOwed(visit: PaidAttempt, owed: string): Promise<GateAnswer> {
    const { records, flights, deliveries } = this.#parts;
    const { payment, prepared, keyHash } = visit;
    const repetition = new InFlightPurchase({
      payer: payment.payer,
      requestHash: prepared.requestHash,
      keyHash,
    });
    flights.add(repetition);
    try {
      if (keyHash !== undefined) await records.bindRequestKey(keyHash, owed, prepared.requestHash);
      const answer = await this.#answerOf(visit, owed);
      if (!answer) throw new FarthingError('internal', 'An owed answer has no record.');
      repetition.end(answer);
      return deliveries.ofRepetition(repetition, owed, answer);
    } catch (error) {
      flights.remove(repetition);
      repetition.fail(error, 'undelivered');
      throw error;
    }
  }

  async #answerOf(visit: PaidAttempt, key: string): Promise<Answer | undefined> {
    const record = this.#parts.records.find(key);
    if (!record) return undefined;
    return this.#parts.deliveries.withReceipt(await this.#again(visit, key, record), record, visit.payment);
  }

  /** Stored, reissued by its effect, or worked out anew when the stored one is lost. */
  async #again(
    { payment, prepared, request }: PaidAttempt,
    key: string,
    record: PaymentRecord,
  ): Promise<Answer> {
    const { handlers, answers } = this.#parts;
    if (record.effect && !record.committed) throw settlementPending();
    if (record.effect) return await handlers[record.effect.kind].reissue(record.effect.ref);
    const tenant = payerTenantId(payment.payer);
    const stored = await answers.find(tenant, key);
    if (stored) return stored;
    const outcome = await prepared.run(request.signal);
    if (!outcome.charged) return outcome.answer;
    if ('effect' in outcome) throw new FarthingError('internal', 'Pure work came back with an effect.');
    const answer = outcome.answer(record.timing ?? NO_TIMING);
    await answers.keep(tenant, key, answer);
    return answer;
  }
}
