import { FarthingError } from '../../domain/error.ts';
import type { PaidRequest } from '../paid-request.ts';
import type { Payment } from '../payment.ts';

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
