import { FarthingError } from '@farthing/protocol/error';
import type { AtomicAmount } from '@farthing/protocol/money';
import { alreadyUsed } from '../fault.ts';
import type { Payment } from '../payment.ts';
import type { GateAnswer } from '../purchase.ts';
import { isCharged } from '../records/payment-record.ts';
import type { PaymentRecords } from '../records/records.ts';
import { clientGone, type PaidAttempt, waitUnlessGone } from './attempt.ts';
import { type Deliveries, undeliverable } from './deliveries.ts';
import type { InFlightPurchase } from './in-flight-purchase.ts';
import type { InFlightRequest, InFlightRequests } from './in-flight-requests.ts';
import type { Repetitions } from './repetitions.ts';
import type { Settlements } from './settlements.ts';

export interface EarlierDeps {
  readonly records: PaymentRecords;
  readonly inFlight: InFlightRequests;
  readonly deliveries: Deliveries;
  readonly settlements: Settlements;
  readonly repetitions: Repetitions;
  /** @throws PaymentRefused when an unused payment does not match the amount, or is not valid now. */
  readonly checkPrice: (payment: Payment, amount: AtomicAmount) => void;
}

/** Effect of earlier requests on a new one. */
export type Earlier =
  /** Nothing: it is a purchase of its own. */
  | { readonly kind: 'mine' }
  /** Something has to end first; then look again. `until` rejects with the answer for the client. */
  | { readonly kind: 'wait'; readonly until: Promise<unknown> }
  /** An earlier request's answer is this one's, too. */
  | { readonly kind: 'answer'; readonly answer: Promise<GateAnswer> };

/**
 * Looks for earlier requests with the same idempotency key, the same authorization, or the same question of the same payer.
 * Who is given which answer again: docs/payments.md, "Asking again".
 */
export class EarlierRequests {
  readonly #deps: EarlierDeps;
  /** They came while the outcome of their own settlement was open. */
  readonly #waited = new WeakSet<PaidAttempt>();

  constructor(deps: EarlierDeps) {
    this.#deps = deps;
  }

  /** Claims what it answers with before it returns. @throws PaymentRefused, idempotency_key_reused */
  look(attempt: PaidAttempt): Earlier {
    return (
      this.#byIdempotencyKey(attempt) ??
      this.#byAuthorization(attempt) ??
      this.#byRequest(attempt) ?? { kind: 'mine' }
    );
  }

  /** The idempotency key of an earlier request. */
  #byIdempotencyKey(attempt: PaidAttempt): Earlier | undefined {
    const { keyHash, requestHash, key } = attempt;
    if (keyHash === undefined) return undefined;
    const { inFlight, records, repetitions } = this.#deps;
    const running = inFlight.ofKey(keyHash);
    const known = running ?? records.findByRequestKey(keyHash);
    if (!known) return undefined;
    if (known.requestHash !== requestHash) throw keyReused();
    if ('payment' in known) {
      const record = records.findCharged(known.payment);
      return record && { kind: 'answer', answer: repetitions.again(attempt, known.payment, record) };
    }
    if (known.kind === 'repetition') return { kind: 'wait', until: known.over };
    switch (known.stage) {
      case 'working':
        return known.key === key ? this.#join(known, attempt) : untilEnded(known);
      case 'abandoned':
      case 'settling':
      case 'over':
        return untilEnded(known);
      case 'unfinished':
        return known.key === key ? this.#whenKnown(known, attempt) : this.#hurry(known);
      case 'answering':
        return { kind: 'answer', answer: repetitions.ofPurchase(attempt, known) };
      default:
        return known.stage satisfies never;
    }
  }

  /** The same authorization: until it is settled, copies of its request join it. */
  #byAuthorization(attempt: PaidAttempt): Earlier | undefined {
    const { key, requestHash, payment, request } = attempt;
    const purchase = this.#deps.inFlight.ofPayment(key);
    if (!purchase) {
      const record = this.#deps.records.find(key);
      if (record && isCharged(record) && record.requestHash === requestHash && this.#waited.has(attempt))
        return { kind: 'answer', answer: this.#deps.repetitions.again(attempt, key, record) };
      if (record) throw alreadyUsed();
      this.#deps.checkPrice(payment, request.quote.amount);
      return undefined;
    }
    if (purchase.requestHash !== requestHash) {
      // If that one is not charged, the voucher is good for this one.
      if (payment.voucher && (purchase.stage === 'working' || purchase.stage === 'settling'))
        return untilEnded(purchase);
      throw alreadyUsed();
    }
    switch (purchase.stage) {
      case 'working':
        return this.#join(purchase, attempt);
      case 'abandoned':
        return untilEnded(purchase);
      case 'unfinished':
        // By then others may have read the authorization on the chain: a token is for who has the key, or signs anew.
        if (purchase.record?.effect?.kind === 'workspace_create') return this.#hurry(purchase);
        return this.#whenKnown(purchase, attempt);
      case 'settling':
      case 'over':
        // One that came while the outcome was open goes on waiting.
        if (this.#waited.has(attempt)) return untilEnded(purchase);
        throw alreadyUsed();
      case 'answering':
        if (this.#waited.has(attempt))
          return { kind: 'answer', answer: this.#deps.repetitions.ofPurchase(attempt, purchase) };
        throw alreadyUsed();
      default:
        return purchase.stage satisfies never;
    }
  }

  /** The same request of the same payer with a fresh payment, which stays unused when an answer is owed. */
  #byRequest(attempt: PaidAttempt): Earlier | undefined {
    const { payment, requestHash, keyHash } = attempt;
    const { inFlight, records, repetitions } = this.#deps;
    const running = inFlight.ofRequest(payment.payer, requestHash);
    if (running) return this.#untilDelivered(running);
    const owed = records.findUndelivered(payment.payer, requestHash);
    const record = owed === undefined ? undefined : records.findCharged(owed);
    if (!record) return undefined;
    // A different key asks for a new purchase. The first answer can still be found by its own key.
    if (keyHash !== undefined && record.keyHash !== undefined && keyHash !== record.keyHash) return undefined;
    return { kind: 'answer', answer: repetitions.owed(attempt, owed!, record) };
  }

  /** Until it is known whether its answer went out, or until waiting for that has no end in sight. */
  #untilDelivered(running: InFlightRequest): Earlier {
    if (running.kind === 'repetition') return { kind: 'wait', until: running.over };
    if (running.stage === 'unfinished' && running.hasEnded) return this.#hurry(running);
    return { kind: 'wait', until: running.ended.then(() => running.over, noop) };
  }

  /** The same payload to the same request, while the outcome of its settlement is open: it waits for that. */
  #whenKnown(purchase: InFlightPurchase, attempt: PaidAttempt): Earlier {
    if (!purchase.hasEnded) return this.#join(purchase, attempt);
    this.#waited.add(attempt);
    return this.#hurry(purchase);
  }

  #hurry(purchase: InFlightPurchase): Earlier {
    return { kind: 'wait', until: this.#deps.settlements.hurry(purchase) };
  }

  /** A copy whose body arrived in time: the very same answer, whatever it is. */
  #join(purchase: InFlightPurchase, { request }: PaidAttempt): Earlier {
    return { kind: 'answer', answer: this.#joined(purchase, request.signal) };
  }

  async #joined(purchase: InFlightPurchase, signal: AbortSignal): Promise<GateAnswer> {
    const { deliveries } = this.#deps;
    const joined = purchase.join(signal);
    try {
      await waitUnlessGone(joined, signal);
      if (signal.aborted) throw clientGone();
      const { charged, answer } = await joined;
      return charged ? deliveries.ofPurchase(purchase, answer) : undeliverable(answer);
    } catch (error) {
      deliveries.report(purchase, false);
      throw error;
    }
  }
}

/** However it ends. */
function untilEnded(purchase: InFlightPurchase): Earlier {
  return { kind: 'wait', until: purchase.ended.then(noop, noop) };
}

function noop(): void {}

function keyReused(): FarthingError {
  return new FarthingError(
    'idempotency_key_reused',
    'This idempotency key belongs to another request of the same payer. Use a new key for a new request.',
  );
}
