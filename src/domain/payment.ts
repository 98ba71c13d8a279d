import type { AtomicAmount } from './money.ts';

/** 0x-prefixed, 20 bytes, lower case: addresses are compared by value. */
export type Address = `0x${string}`;

/** What a request costs, from the request and the settings alone: never from a workspace's state. */
export interface Quote {
  readonly amount: AtomicAmount;
  /** Absolute URL of the resource, from BASE_URL, never from the Host header. */
  readonly resource: string;
  readonly description: string;
  /** What the catalogue extensions publish about the route. */
  readonly discovery: Discovery;
  /** Why the quote's own request would be refused even if paid (`spend_limit_exceeded`); shown in the 402's `error`. */
  readonly notice?: string;
}

/** Shape of a paid route for public catalogues (`bazaar`, v1 `outputSchema`). */
export interface Discovery {
  readonly method: 'GET' | 'POST';
  /** Route with ids left out: `/agent/v1/items/:item_id`. */
  readonly routeTemplate: string;
  readonly bodyType?: 'json' | 'form-data';
  /** JSON Schema of the body's properties, and an example of body and answer. */
  readonly bodyFields?: Readonly<Record<string, unknown>>;
  readonly bodyExample?: unknown;
  readonly pathParams?: Readonly<Record<string, unknown>>;
  readonly outputSchema: Readonly<Record<string, unknown>>;
  readonly outputExample: unknown;
}

/** Headers that carry a payment, as they came. */
export interface PaymentCredentials {
  readonly xPayment?: string;
  readonly paymentSignature?: string;
  readonly idempotencyKey?: string;
}

/** An answer before it is written: JSON body, and headers beside the usual ones. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Milliseconds that the payment's own stages took. */
export interface PaymentTiming {
  readonly verify_ms: number;
  readonly settle_ms: number;
}

/**
 * Side effect of a paid request (an accepted ingest, a created or extended workspace), durable but invisible until
 * committed. `kind` names its handler; `ref` is JSON and all that the handler needs after a crash.
 */
export interface Effect {
  readonly kind: 'ingest' | 'workspace_create' | 'workspace_extend';
  readonly ref: Readonly<Record<string, string>>;
}

export interface EffectHandler {
  /** After settlement. Idempotent: a crash may repeat it. Its answer is the request's (fresh token, fresh times). */
  commit(ref: Effect['ref']): Promise<Answer>;
  /** The payment failed: nothing of the effect may stay. Idempotent. */
  undo(ref: Effect['ref']): Promise<void>;
  /** The answer again, for a lawful retry: the same answer, but a new token where the first carried one. */
  reissue(ref: Effect['ref']): Promise<Answer>;
  /**
   * Every effect that waits for its commit, read once at a start: those that no payment knows (a crash came between the effect
   * and its payment's record) are undone.
   */
  pending?(): Promise<readonly Effect['ref'][]>;
}

/** What the work of a paid request came to. */
export type WorkOutcome =
  /** Nothing is charged: an error (thrown ones count too), an empty index, a duplicate, a used credit. */
  | { readonly charged: false; readonly answer: Answer }
  /** Pure work: the answer is complete but for the payment's timing. */
  | { readonly charged: true; readonly answer: (timing: PaymentTiming) => Answer }
  /** Work with a side effect: the answer comes from the effect's handler at commit. */
  | { readonly charged: true; readonly effect: Effect };

/** A paid request as the gate sees it: the gate knows no route. */
export interface PaidRequest {
  readonly quote: Quote;
  readonly credentials: PaymentCredentials;
  /** The quote holds whatever the body says: a wrong amount is then refused before the body is read. */
  readonly priceFixed?: boolean;
  /**
   * Reads and validates the request once the payment's local checks have passed: the body, its identity, its work.
   * Throws a FarthingError for what is wrong with it (uncharged). The payer is known and genuine by then, not yet verified to be able to pay.
   */
  prepare(payer: Address): Promise<PreparedRequest>;
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal;
}

export interface PreparedRequest {
  /** SHA-256 (hexadecimal) of the request's identity: method, path, query string and validated body. */
  readonly requestHash: string;
  /** `pure` work runs while the facilitator verifies; `effect` work starts after verification. */
  readonly mode: 'pure' | 'effect';
  /** `signal`: aborted when nobody waits for the outcome any more, neither the request itself nor copies of it. */
  run(signal: AbortSignal): Promise<WorkOutcome>;
  /** Called once when the request is over, whatever came of it: frees what `prepare` acquired (a staged upload). */
  dispose?(): Promise<void>;
}

/** What the gate hands to HTTP: the answer with its payment headers, and a callback once it was written out. */
export interface GateAnswer extends Answer {
  /** The answer was handed to the network whole (true) or the connection was lost before (false). */
  delivered(whole: boolean): void;
}
