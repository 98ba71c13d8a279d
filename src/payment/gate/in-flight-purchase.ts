import type { Address } from '@farthing/protocol/address';
import type { Answer } from '../purchase.ts';
import type { PaymentRecord } from '../records/payment-record.ts';

/** Stage of a purchase in flight. */
export type PurchaseStage =
  /** Verified and worked for: a copy of its request may still join. */
  | 'working'
  /** All requests left before the settlement was sent: its work is being cancelled. */
  | 'abandoned'
  /** The settlement was sent: the authorization may be public, and a copy of it opens nothing. */
  | 'settling'
  /** The outcome of the settlement, or what follows from it, is waited for in the background. */
  | 'unfinished'
  /** Charged, and the answer is going out. */
  | 'answering'
  /** Everybody has reported on the delivery, or nothing was charged. */
  | 'over';

/** How the work of a purchase ended. */
export interface Purchased {
  readonly charged: boolean;
  readonly answer: Answer;
}

/**
 * One paid request while it runs, from its claim until its answer has gone out: copies of it and later requests of the same payer
 * wait for it. In memory; the durable side is its PaymentRecord.
 */
export class InFlightPurchase {
  readonly kind = 'purchase';
  /** Identity of the payment. */
  readonly key: string;
  readonly payer: Address;
  readonly requestHash: string;
  readonly keyHash: string | undefined;
  /** The record as far as it got. */
  record: PaymentRecord | undefined;
  /** The charged answer of pure work, without receipt headers. */
  answer: Answer | undefined;
  /** Writes still due after the answer is out; the purchase stays known until then. */
  noted: Promise<void> = Promise.resolve();
  /** A request that waited for the answer has reported that it went out. */
  delivered = false;
  /** Resolves with the outcome for all requests that joined; rejects with the error. */
  readonly ended: Promise<Purchased>;
  /** Resolves once all requests that waited for the answer have reported, or nothing was charged. */
  readonly over: Promise<void>;
  readonly #leaving = new AbortController();
  #stage: PurchaseStage = 'working';
  #hasEnded = false;
  #present = 0;
  #reportsAwaited = 1;
  #end!: (purchased: Purchased) => void;
  #fail!: (error: unknown) => void;
  #finish!: () => void;

  constructor({ key, payer, requestHash, keyHash }: PurchaseIdentity) {
    this.key = key;
    this.payer = payer;
    this.requestHash = requestHash;
    this.keyHash = keyHash;
    this.ended = new Promise((resolve, reject) => {
      this.#end = resolve;
      this.#fail = reject;
    });
    this.over = new Promise((resolve) => {
      this.#finish = resolve;
    });
    const noteEnd = () => {
      this.#hasEnded = true;
    };
    // Without a joined copy the rejection is unhandled.
    this.ended.then(noteEnd, noteEnd);
  }

  get stage(): PurchaseStage {
    return this.#stage;
  }

  /** The request that paid waits no longer: the outcome goes to later requests. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Aborted when all requests that waited for the answer have left: the first and its copies. */
  get signal(): AbortSignal {
    return this.#leaving.signal;
  }

  /** One more client waits for the answer, until `signal` is aborted. */
  attend(signal: AbortSignal): void {
    this.#present += 1;
    const leave = () => {
      this.#present -= 1;
      if (this.#present > 0) return;
      if (this.#stage === 'working') this.#stage = 'abandoned';
      this.#leaving.abort();
    };
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
  }

  /** A copy of the authorization joins: it gets the very same answer, and reports its delivery. */
  join(signal: AbortSignal): Promise<Purchased> {
    this.attend(signal);
    this.#reportsAwaited += 1;
    return this.ended;
  }

  /** The settlement is sent. `record`: as durable as the facilitator needs it. */
  settle(record: PaymentRecord): void {
    this.#stage = 'settling';
    this.record = record;
  }

  /** Leaves the remaining work to the background, until `resume`. */
  postpone(): void {
    this.#stage = 'unfinished';
  }

  resume(): void {
    this.#stage = 'settling';
  }

  /** Charged: all waiting copies get this answer. */
  release(answer: Answer): void {
    // The durable note of an answer may have failed before it was released.
    if (this.#stage !== 'unfinished') this.#stage = 'answering';
    this.#end({ charged: true, answer });
  }

  /** Nothing was charged: all waiting copies get this answer. */
  releaseUncharged(answer: Answer): void {
    this.#end({ charged: false, answer });
    this.finish();
  }

  /** All waiting copies get the error; what is unfinished stays so. */
  fail(error: unknown): void {
    this.#fail(error);
  }

  /** One of those who were to get the answer has reported whether it went out. */
  report(): void {
    this.#reportsAwaited -= 1;
    if (this.#reportsAwaited === 0) this.finish();
  }

  finish(): void {
    if (this.#stage !== 'unfinished') this.#stage = 'over';
    this.#finish();
  }
}

export interface PurchaseIdentity {
  readonly key: string;
  readonly payer: Address;
  readonly requestHash: string;
  readonly keyHash?: string | undefined;
}
