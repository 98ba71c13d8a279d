import type { Address, Answer, PaymentTiming } from '../../domain/payment.ts';
import type { PaymentRecord } from '../records/records.ts';

/** How a flight ended, for those who waited for its delivery. */
export type PurchaseOutcome = 'delivered' | 'undelivered' | 'uncharged';

/**
 * One paid request while it runs, from its claim until its answer has gone out: what copies of it and later requests of the
 * same payer wait for. In memory; the durable side is its PaymentRecord.
 */
export class InFlightPurchase {
  /** Identity of the payment; undefined for the repetition of an answer, which has no payment of its own. */
  readonly payment: string | undefined;
  readonly payer: Address;
  readonly requestHash: string;
  readonly keyHash: string | undefined;
  /** From here on a copy of the authorization opens nothing: it may have become public. */
  settlementSent = false;
  charged = true;
  /** The record as far as it got; with a complete answer once it is settled. */
  record: PaymentRecord | undefined;
  /** The charged answer without receipt headers. */
  answer: Answer | undefined;
  /** What is still to be written once the answer is out; the flight stays known until then. */
  noted: Promise<void> = Promise.resolve();
  /** Resolves with the answer that everybody gets who joined; rejects with what went wrong. */
  readonly ended: Promise<Answer>;
  /** Resolves once it is known whether anybody got the answer, or that nothing was charged. */
  readonly over: Promise<PurchaseOutcome>;
  readonly #leaving = new AbortController();
  #present = 0;
  #waitingForDelivery = 1;
  #delivered = false;
  #end!: (answer: Answer) => void;
  #fail!: (error: unknown) => void;
  #finish!: (result: PurchaseOutcome) => void;

  constructor(of: { payment?: string; payer: Address; requestHash: string; keyHash?: string }) {
    this.payment = of.payment;
    this.payer = of.payer;
    this.requestHash = of.requestHash;
    this.keyHash = of.keyHash;
    this.ended = new Promise((resolve, reject) => {
      this.#end = resolve;
      this.#fail = reject;
    });
    this.over = new Promise((resolve) => {
      this.#finish = resolve;
    });
    // Whoever waits handles it; without a copy nobody does.
    this.ended.catch(() => {});
  }

  /** Aborted when everybody has left who waited for the answer: the first request and the copies of it. */
  get signal(): AbortSignal {
    return this.#leaving.signal;
  }

  /** One more client waits for the answer, until `signal` is aborted. */
  attend(signal: AbortSignal): void {
    this.#present += 1;
    const leave = () => {
      this.#present -= 1;
      if (this.#present === 0) this.#leaving.abort();
    };
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
  }

  /** A copy of the authorization joins: it gets the very same answer, and reports its delivery. */
  join(signal: AbortSignal): Promise<Answer> {
    this.attend(signal);
    this.#waitingForDelivery += 1;
    return this.ended;
  }

  /** Charged: everybody who waits gets this answer. */
  end(answer: Answer): void {
    this.#end(answer);
  }

  /** Nothing was charged, whatever was answered. */
  endUncharged(answer: Answer): void {
    this.charged = false;
    this.#end(answer);
    this.#finish('uncharged');
  }

  /** Everybody who waits for the answer gets the error; the flight itself is over only with a `result`. */
  fail(error: unknown, result?: PurchaseOutcome): void {
    this.#fail(error);
    if (result !== undefined) this.#finish(result);
  }

  /** Everybody who was to get the answer has reported. */
  get isOver(): boolean {
    return this.#waitingForDelivery === 0;
  }

  /** One of those who were to get the answer reports whether it went out. */
  report(whole: boolean): void {
    this.#delivered ||= whole;
    this.#waitingForDelivery -= 1;
    if (this.isOver) this.#finish(this.#delivered ? 'delivered' : 'undelivered');
  }
}

/** The flights in progress, by payment, by the idempotency key, and by the request itself. */
export class InFlightPurchases {
  readonly #byPayment = new Map<string, InFlightPurchase>();
  readonly #byKey = new Map<string, InFlightPurchase>();
  readonly #byRequest = new Map<string, InFlightPurchase>();

  get size(): number {
    return this.#byPayment.size;
  }

  ofPayment(payment: string): InFlightPurchase | undefined {
    return this.#byPayment.get(payment);
  }

  ofKey(keyHash: string): InFlightPurchase | undefined {
    return this.#byKey.get(keyHash);
  }

  /** A payer's request runs once at a time: whether a second one is a new purchase depends on the first one's delivery. */
  ofRequest(payer: Address, requestHash: string): InFlightPurchase | undefined {
    return this.#byRequest.get(`${payer}/${requestHash}`);
  }

  add(flight: InFlightPurchase): void {
    if (flight.payment !== undefined) this.#byPayment.set(flight.payment, flight);
    if (flight.keyHash !== undefined) this.#byKey.set(flight.keyHash, flight);
    this.#byRequest.set(`${flight.payer}/${flight.requestHash}`, flight);
  }

  /** Resolves when everything that answers left to be written is on the disk. */
  async noted(): Promise<void> {
    await Promise.allSettled([...this.#byPayment.values()].map((flight) => flight.noted));
  }

  remove(flight: InFlightPurchase): void {
    if (flight.payment !== undefined && this.ofPayment(flight.payment) === flight)
      this.#byPayment.delete(flight.payment);
    if (flight.keyHash !== undefined && this.#byKey.get(flight.keyHash) === flight)
      this.#byKey.delete(flight.keyHash);
    const request = `${flight.payer}/${flight.requestHash}`;
    if (this.#byRequest.get(request) === flight) this.#byRequest.delete(request);
  }
}

export const NO_TIMING: PaymentTiming = { verify_ms: 0, settle_ms: 0 };
