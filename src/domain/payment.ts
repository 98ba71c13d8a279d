import type { Address } from './address.ts';
import type { JobId, StepId, WorkspaceId } from './id.ts';
import type { AtomicAmount } from './money.ts';

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
  readonly pathExample?: Readonly<Record<string, string>>;
  /** JSON Schema of the query string's parameters; catalogues take a GET without it for one that lacks a description. */
  readonly queryParams?: Readonly<Record<string, unknown>>;
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
 * Side effect of a paid request: durable, but invisible until it is committed. `ref` is JSON, and all that the effect's handler
 * needs after a crash.
 */
export type Effect =
  /** An accepted ingest whose job waits for the payment. */
  | { readonly kind: 'ingest'; readonly ref: { readonly job: JobId } }
  /** A workspace whose minutes have not begun. */
  | { readonly kind: 'workspace_create'; readonly ref: { readonly workspace: WorkspaceId } }
  /** Minutes that are not added yet. */
  | {
      readonly kind: 'workspace_extend';
      readonly ref: { readonly workspace: WorkspaceId; readonly step: StepId };
    };

export type EffectKind = Effect['kind'];
export type EffectRef<K extends EffectKind> = Extract<Effect, { kind: K }>['ref'];

export interface EffectHandler<K extends EffectKind = EffectKind> {
  /** After settlement. Idempotent: a crash may repeat it. Its answer is the request's (fresh token, fresh times). */
  commit(ref: EffectRef<K>): Promise<Answer>;
  /** The payment failed: nothing of the effect may stay. Idempotent. */
  undo(ref: EffectRef<K>): Promise<void>;
  /** The answer again, for a lawful retry: the same answer, but a new token where the first carried one. */
  reissue(ref: EffectRef<K>): Promise<Answer>;
  /**
   * Every effect that waits for its commit and whose payment is in the same books. A start reads it once, and undoes those that no
   * payment knows: a crash came between the effect and its payment's record.
   */
  pending(): Promise<readonly EffectRef<K>[]>;
}

export type EffectHandlers = { readonly [K in EffectKind]: EffectHandler<K> };

/** What the work of a paid request came to. */
export type WorkOutcome =
  /** Nothing is charged: an error (thrown ones count too), an empty index, a duplicate, a used credit. */
  | { readonly charged: false; readonly answer: Answer }
  /** Pure work: the answer is complete but for the payment's timing. */
  | { readonly charged: true; readonly answer: (timing: PaymentTiming) => Answer }
  /** Work with a side effect: the answer comes from the effect's handler at commit. */
  | { readonly charged: true; readonly effect: Effect };

/** One request to a paid route as the gate sees it: the gate knows no route. It calls the methods in this order. */
export interface PaidRequest {
  /** Unless the price is fixed, it may be another one after `prepare`. */
  readonly quote: Quote;
  readonly credentials: PaymentCredentials;
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

/** What the gate hands to HTTP: the answer with its payment headers, and a callback once it was written out. */
export interface GateAnswer extends Answer {
  /** The answer was handed to the network whole (true) or the connection was lost before (false). */
  delivered(whole: boolean): void;
}
