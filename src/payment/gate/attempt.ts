import type { Address } from '@farthing/protocol/address';
import { FarthingError } from '@farthing/protocol/error';
import type { Payment } from '../payment.ts';
import type { Quote, WorkOutcome } from '../purchase.ts';
import type { RequestPayment } from '../wire/request-payment.ts';

/** One request to a paid route as the gate sees it: the gate knows no route. It calls the methods in this order. */
export interface PaidRequest {
  /** Unless the price is fixed, it may be another one after `prepare`. */
  readonly quote: Quote;
  readonly payment: RequestPayment;
  /** The sender's, by its own word, that pays by its prepaid money; empty: what it sent is no address. */
  readonly wallet?: Address | '' | undefined;
  /** The quote holds whatever the body says: a wrong amount is then refused before the body is read. */
  readonly priceFixed: boolean;
  /** `pure` work runs while the facilitator verifies; `effect` work starts after verification. */
  readonly mode: 'pure' | 'effect';
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal;
  /**
   * Reads and validates the request once the payment's local checks have passed. The payer is known and genuine by then, not yet
   * verified to be able to pay.
   * @param prove asks the facilitator at once whether the payment will be good, before more is taken from the client; it rejects
   *   with what the request is then answered with
   * @returns SHA-256 (hexadecimal) of the request's identity: method, path, query string and validated body
   * @throws FarthingError for what is wrong with the request; nothing is charged
   */
  prepare(payer: Address, prove: () => Promise<void>): Promise<string>;
  /**
   * The work itself.
   * @param signal aborted when neither the request nor a copy of it waits for the outcome
   * @param willCharge called by pure work, if at all, once nothing but trouble of the server can end it uncharged: what a settlement needs
   *   is then written beside the rest of the work
   */
  run(signal: AbortSignal, willCharge: () => void): Promise<WorkOutcome>;
  /** Called once after `prepare`, even a failed one, when the request has ended: frees what it acquired. */
  dispose(): Promise<void>;
}

/** One request with a genuine payment, read and validated, on its way through the gate. */
export interface PaidAttempt {
  readonly request: PaidRequest;
  readonly payment: Payment;
  /** Identity of the payment. */
  readonly key: string;
  /** Hash of the idempotency key, when it has one. */
  readonly keyHash: string | undefined;
  /** Milliseconds that the facilitator took to prove a contract wallet's signature; undefined for plain wallets. */
  readonly verifiedMs: number | undefined;
  /** Identity of the request. */
  readonly requestHash: string;
}

/** Waits for something, or for the client to leave. @throws what `until` rejects with */
export async function waitUnlessGone(until: Promise<unknown>, signal: AbortSignal): Promise<void> {
  let leave!: () => void;
  const gone = new Promise<void>((resolve) => {
    leave = resolve;
  });
  signal.addEventListener('abort', leave, { once: true });
  try {
    await Promise.race([until, gone]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

export function clientGone(): FarthingError {
  return new FarthingError('request_malformed', 'The client closed the connection.');
}
