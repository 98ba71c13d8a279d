import { FarthingError } from '../../domain/error.ts';
import type { AtomicAmount } from '../../domain/money.ts';
import type { GateAnswer, PaidRequest } from '../../domain/payment.ts';
import { PaymentRefused } from '../fault.ts';
import type { Payment } from '../payment.ts';
import type { PaymentRecords } from '../records/records.ts';
import { type PaidAttempt, waitUnlessLeft } from './attempt.ts';
import { clientGone } from './checkout.ts';
import { type Deliveries, undeliverable } from './deliveries.ts';
import type { InFlightPurchase, InFlightPurchases } from './in-flight-purchase.ts';
import type { Repetitions } from './repetitions.ts';
import type { Settlements } from './settlements.ts';

export interface EarlierDeps {
  readonly records: PaymentRecords;
  readonly flights: InFlightPurchases;
  readonly deliveries: Deliveries;
  readonly settlements: Settlements;
  readonly repetitions: Repetitions;
  /** @throws PaymentRefused when a payment that nobody used is not worth the amount, or not now. */
  readonly checkPrice: (payment: Payment, amount: AtomicAmount) => void;
}

/** What earlier requests with the same idempotency key, the same authorization or the same question mean for a new one. */
export class EarlierRequests {
  readonly #parts: EarlierDeps;

  constructor(parts: EarlierDeps) {
    this.#parts = parts;
  }

  /**
   * The answer that an earlier request gives; undefined when there is none and the new one is a purchase of its own. A promise of
   * undefined: there was something to wait for, look again.
   * @throws PaymentRefused, idempotency_key_reused
   */
  of(visit: PaidAttempt): Promise<GateAnswer | undefined> | undefined {
    return this.#byRequestKey(visit) ?? this.#byPayment(visit) ?? this.#byRequest(visit);
  }

  /** Rule 6, and rule 4(b): the idempotency key of an earlier request. Resolves to undefined after a wait. */
  #byRequestKey(visit: PaidAttempt): Promise<GateAnswer | undefined> | undefined {
    const { keyHash, prepared, key, request } = visit;
    if (keyHash === undefined) return undefined;
    const flight = this.#parts.flights.ofKey(keyHash);
    const binding = flight ?? this.#parts.records.findByRequestKey(keyHash);
    if (!binding) return undefined;
    if (binding.requestHash !== prepared.requestHash) {
      throw new FarthingError(
        'idempotency_key_reused',
        'This idempotency key belongs to another request of the same payer. Use a new key for a new request.',
      );
    }
    if (!flight) return this.#parts.repetitions.ofSettled(visit, binding.payment as string);
    if (flight.payment === undefined) return waitUnlessLeft(untilOver(flight), request.signal);
    if (this.#parts.settlements.isPending(flight)) return this.#parts.settlements.hurry(flight).then(nothing);
    if (flight.payment === key && !flight.settlementSent) return this.#join(flight, request);
    if (flight.record?.state === 'settled') {
      return waitUnlessLeft(flight.ended, request.signal).then(() =>
        this.#parts.settlements.isPending(flight) || request.signal.aborted
          ? undefined
          : this.#parts.repetitions.ofEnded(visit, flight),
      );
    }
    return waitUnlessLeft(flight.ended, request.signal);
  }

  /** Rules 1 and 4(a): the same authorization. */
  #byPayment(visit: PaidAttempt): Promise<GateAnswer | undefined> | undefined {
    const { key, prepared, request } = visit;
    const flight = this.#parts.flights.ofPayment(key);
    if (flight) {
      if (flight.requestHash !== prepared.requestHash) throw new PaymentRefused('authorization_already_used');
      if (this.#parts.settlements.isPending(flight))
        return this.#parts.settlements.hurry(flight).then(nothing);
      if (!flight.settlementSent) return this.#join(flight, request);
      throw new PaymentRefused('authorization_already_used');
    }
    if (this.#parts.records.find(key)) throw new PaymentRefused('authorization_already_used');
    this.#parts.checkPrice(visit.payment, request.quote.amount);
    return undefined;
  }

  /** Rule 4(c): the same request of the same payer with a fresh payment, which stays unused when an answer is owed. */
  #byRequest(visit: PaidAttempt): Promise<GateAnswer | undefined> | undefined {
    const { payment, prepared, request } = visit;
    const flight = this.#parts.flights.ofRequest(payment.payer, prepared.requestHash);
    if (flight && this.#parts.settlements.isPending(flight))
      return this.#parts.settlements.hurry(flight).then(nothing);
    if (flight) return waitUnlessLeft(untilOver(flight), request.signal);
    const owed = this.#parts.records.findUndelivered(payment.payer, prepared.requestHash);
    return owed === undefined ? undefined : this.#parts.repetitions.ofOwed(visit, owed);
  }

  /** A copy whose body arrived in time: the very same answer, whatever it is. */
  async #join(flight: InFlightPurchase, { signal }: PaidRequest): Promise<GateAnswer | undefined> {
    // Its work was given up, because everybody had left: the next look finds nothing of it.
    if (flight.signal.aborted) return waitUnlessLeft(flight.ended, signal);
    const joined = flight.join(signal);
    try {
      await waitUnlessLeft(joined, signal);
      if (signal.aborted) throw clientGone();
      const answer = await joined;
      return flight.charged ? this.#parts.deliveries.ofFlight(flight, answer) : undeliverable(answer);
    } catch (error) {
      this.#parts.deliveries.report(flight, false);
      throw error;
    }
  }
}

/** Until it is known whether its answer went out, or until waiting for that has no end in sight. */
function untilOver(flight: InFlightPurchase): Promise<unknown> {
  return flight.ended.then(() => flight.over);
}

function nothing(): undefined {
  return undefined;
}
