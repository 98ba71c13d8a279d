import type { PaidRequest, PreparedRequest } from '../../domain/payment.ts';
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
  readonly prepared: PreparedRequest;
}

/** Waits for something or for the client to leave; resolves to undefined so that the caller looks again. */
export async function waitUnlessLeft(what: Promise<unknown>, signal: AbortSignal): Promise<undefined> {
  let leave!: () => void;
  const left = new Promise<void>((resolve) => {
    leave = resolve;
  });
  signal.addEventListener('abort', leave, { once: true });
  await Promise.race([what.then(leave, leave), left]);
  signal.removeEventListener('abort', leave);
  return undefined;
}
