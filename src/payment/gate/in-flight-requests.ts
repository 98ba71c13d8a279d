import type { Address } from '@farthing/protocol/address';
import type { InFlightPurchase } from './in-flight-purchase.ts';

/** An answer that is owed, on its way again: it has no payment, and the next request of its payer waits for its delivery. */
export class InFlightRepetition {
  readonly kind = 'repetition';
  readonly payer: Address;
  readonly requestHash: string;
  readonly keyHash: string | undefined;
  /** Resolves once it is known whether the answer went out. */
  readonly over: Promise<void>;
  /** It went out, or did not. */
  finish!: () => void;

  constructor(request: { payer: Address; requestHash: string; keyHash: string | undefined }) {
    this.payer = request.payer;
    this.requestHash = request.requestHash;
    this.keyHash = request.keyHash;
    this.over = new Promise((resolve) => {
      this.finish = resolve;
    });
  }
}

export type InFlightRequest = InFlightPurchase | InFlightRepetition;

/** The requests in flight, by payment, by idempotency key, and by the request itself. */
export class InFlightRequests {
  readonly #byPayment = new Map<string, InFlightPurchase>();
  readonly #purchasesOf = new Map<Address, number>();
  readonly #byKey = new Map<string, InFlightRequest>();
  readonly #byRequest = new Map<string, InFlightRequest>();

  get purchaseCount(): number {
    return this.#byPayment.size;
  }

  purchaseCountOf(payer: Address): number {
    return this.#purchasesOf.get(payer) ?? 0;
  }

  ofPayment(key: string): InFlightPurchase | undefined {
    return this.#byPayment.get(key);
  }

  ofKey(keyHash: string): InFlightRequest | undefined {
    return this.#byKey.get(keyHash);
  }

  /** A payer's request runs once at a time: whether a second one is a new purchase depends on the first one's delivery. */
  ofRequest(payer: Address, requestHash: string): InFlightRequest | undefined {
    return this.#byRequest.get(`${payer}/${requestHash}`);
  }

  /** Whether a purchase of this payer is charged, and the record of its answer is still being written. */
  owesAnswer(payer: Address): boolean {
    for (const purchase of this.#byPayment.values())
      if (purchase.payer === payer && (purchase.stage === 'answering' || purchase.stage === 'over'))
        return true;
    return false;
  }

  add(request: InFlightRequest): void {
    if (request.kind === 'purchase') {
      this.#byPayment.set(request.key, request);
      this.#purchasesOf.set(request.payer, this.purchaseCountOf(request.payer) + 1);
    }
    if (request.keyHash !== undefined) this.#byKey.set(request.keyHash, request);
    this.#byRequest.set(requestId(request), request);
  }

  remove(request: InFlightRequest): void {
    if (request.kind === 'purchase' && removeFrom(this.#byPayment, request.key, request)) {
      const left = this.purchaseCountOf(request.payer) - 1;
      if (left > 0) this.#purchasesOf.set(request.payer, left);
      else this.#purchasesOf.delete(request.payer);
    }
    if (request.keyHash !== undefined) removeFrom(this.#byKey, request.keyHash, request);
    removeFrom(this.#byRequest, requestId(request), request);
  }

  /** Resolves when everything that answers left to be written is on the disk. */
  async noted(): Promise<void> {
    await Promise.allSettled([...this.#byPayment.values()].map((purchase) => purchase.noted));
  }
}

function requestId({ payer, requestHash }: InFlightRequest): string {
  return `${payer}/${requestHash}`;
}

/** False when a later request has replaced it. */
function removeFrom<V>(map: Map<string, V>, key: string, value: V): boolean {
  return map.get(key) === value && map.delete(key);
}
