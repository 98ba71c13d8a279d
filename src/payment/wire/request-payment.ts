import type { Address } from '@farthing/protocol/address';
import type { SentPayment } from '../payment.ts';
import type { PaymentCredentials } from '../purchase.ts';
import type { Genuine } from '../signature.ts';
import { namesPayer, type ParsedPayment, parsePaymentHeader } from './payment-header.ts';

/** The payment of one request: parsed at most once, its signature checked at most once, however many parts of the server ask. */
export class RequestPayment {
  /** False for a request that cannot be charged. */
  readonly isPresent: boolean;
  readonly idempotencyKey: string | undefined;
  readonly #credentials: PaymentCredentials;
  readonly #parse: () => ParsedPayment | undefined;
  #checked: (() => Genuine | undefined) | undefined;

  constructor(credentials: PaymentCredentials = {}) {
    const { xPayment, paymentSignature, idempotencyKey } = credentials;
    this.isPresent = xPayment !== undefined || paymentSignature !== undefined;
    this.idempotencyKey = idempotencyKey;
    this.#credentials = credentials;
    this.#parse = once(() => parsePaymentHeader(credentials));
  }

  /** @returns undefined without a payment. @throws PaymentRefused for one that cannot be read */
  parsed(): ParsedPayment | undefined {
    return this.#parse();
  }

  /**
   * The payment with the verdict on its signature; undefined without one.
   * @param check all gates of a process check alike: the first one's result holds for the others
   * @throws PaymentRefused for a payment that no gate accepts
   */
  genuine(check: (sent: SentPayment) => Genuine): Genuine | undefined {
    this.#checked ??= once(() => {
      const sent = this.#parse()?.payment;
      return sent && check(sent);
    });
    return this.#checked();
  }

  /** False for a payment that certainly names none of the sought wallets. Cheap: the payment is searched, not parsed. */
  mayBeFrom(isSought: (payer: Address) => boolean): boolean {
    return namesPayer(this.#credentials, isSought);
  }
}

/** Calls `work` at the first call only. What it returned or threw is the outcome of every call. */
function once<T>(work: () => T): () => T {
  let outcome: { readonly value: T } | { readonly error: unknown } | undefined;
  return () => {
    outcome ??= outcomeOf(work);
    if ('error' in outcome) throw outcome.error;
    return outcome.value;
  };
}

function outcomeOf<T>(work: () => T): { readonly value: T } | { readonly error: unknown } {
  try {
    return { value: work() };
  } catch (error) {
    return { error };
  }
}
