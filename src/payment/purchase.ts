import type { JobId, PrepaidStepId, StepId, WorkspaceId } from '@farthing/protocol/id';
import type { AtomicAmount } from '@farthing/protocol/money';

/** Price and terms of a request, from the request and the settings alone: never from a workspace's state. */
export interface Quote {
  readonly amount: AtomicAmount;
  /** Absolute URL of the resource, from BASE_URL, never from the Host header. */
  readonly resource: string;
  readonly description: string;
  /** Route data that the catalogue extensions publish. */
  readonly discovery: Discovery;
  /** Why the quote's own request would be refused even if paid (`spend_limit_exceeded`); shown in the 402's `error`. */
  readonly notice?: string;
  /** Absent: it may be paid with either. */
  readonly paidIn?: 'coin' | 'prepaid' | 'channel';
  /** A refund of prepaid money. Idle money may be refunded, too. */
  readonly isRefund?: true;
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
    }
  /** Prepaid money that is not in the balance yet. */
  | { readonly kind: 'prepay'; readonly ref: { readonly step: PrepaidStepId } }
  /** Prepaid money that has left the balance, and is not owed to its payer yet. */
  | { readonly kind: 'prepaid_refund'; readonly ref: { readonly step: PrepaidStepId } };

export type EffectKind = Effect['kind'];
export type EffectRef<K extends EffectKind> = Extract<Effect, { kind: K }>['ref'];

export interface EffectHandler<K extends EffectKind = EffectKind> {
  /** Its effect can be turned into money again: it waits for proof of its settlement, however long that takes. */
  readonly needsProof?: boolean;
  /** After settlement. Idempotent: a crash may repeat it. Its answer is the request's (fresh token, fresh times). */
  commit(ref: EffectRef<K>): Promise<Answer>;
  /** The payment failed: nothing of the effect may stay. Idempotent. */
  undo(ref: EffectRef<K>): Promise<void>;
  /** The answer again, for a lawful retry: the same answer, but a new token where the first carried one. */
  reissue(ref: EffectRef<K>): Promise<Answer>;
  /**
   * Every effect that waits for its commit and whose payment is in the same store. A start reads it once, and undoes those without a
   * payment: a crash came between the effect and its payment's record.
   */
  pending(): Promise<readonly EffectRef<K>[]>;
}

export type EffectHandlers = { readonly [K in EffectKind]: EffectHandler<K> };

/** Result of a paid request's work. */
export type WorkOutcome =
  /** Nothing is charged: an error (thrown ones count too), an empty index, a duplicate, a used credit. */
  | { readonly charged: false; readonly answer: Answer }
  /** Pure work: the answer is complete but for the payment's timing. */
  | { readonly charged: true; readonly answer: (timing: PaymentTiming) => Answer }
  /** Work with a side effect: the answer comes from the effect's handler at commit. */
  | { readonly charged: true; readonly effect: Effect };

/** The gate's result for HTTP: the answer with its payment headers, and a callback once it was written out. */
export interface GateAnswer extends Answer {
  /** The answer was handed to the network whole (true) or the connection was lost before (false). */
  delivered(whole: boolean): void;
}
