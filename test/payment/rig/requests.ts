import type { PaidRequest } from '../../../src/payment/gate/attempt.ts';
import type { PaymentGate } from '../../../src/payment/gate/gate.ts';
import type { GateAnswer, PaymentTiming, Quote, WorkOutcome } from '../../../src/payment/purchase.ts';
import { RequestPayment } from '../../../src/payment/wire/request-payment.ts';
import { PRICE } from './payments.ts';
import type { StoredThings } from './stored-things.ts';

/** Paid requests, sent to a gate without HTTP. */

export function quote(amount = PRICE): Quote {
  return {
    amount,
    resource: 'http://127.0.0.1:8402/agent/v1/search',
    description: 'Search a private index by meaning, by words and by picture.',
    discovery: {
      method: 'POST',
      routeTemplate: '/agent/v1/search',
      bodyType: 'json',
      bodyFields: { query: { type: 'string' } },
      bodyExample: { query: 'red bicycle' },
      outputSchema: { type: 'object', properties: { hits: { type: 'array' } } },
      outputExample: { hits: [] },
    },
  };
}

export interface Asking {
  paymentSignature?: string;
  xPayment?: string;
  idempotencyKey?: string;
  hash?: string;
  amount?: bigint;
  paidIn?: Quote['paidIn'];
  isRefund?: true;
  priceFixed?: boolean;
  signal?: AbortSignal;
  mode?: 'pure' | 'effect';
  run?: PaidRequest['run'];
  onPrepare?: (prove: () => Promise<void>) => Promise<void> | void;
}

let works = 0;

/** Work that says which run it was, so that two answers can be told apart. */
export async function numberedWork(): Promise<WorkOutcome> {
  works += 1;
  const work = works;
  return {
    charged: true,
    answer: (timing: PaymentTiming) => ({
      status: 200,
      headers: {},
      body: { work, timing: { ...timing }, charged: true },
    }),
  };
}

/** A purchase with an effect: makes the thing of this name. */
export function making({ things }: { things: StoredThings }, name = 'one') {
  const run = async (): Promise<WorkOutcome> => ({ charged: true, effect: await things.make(name) });
  return { mode: 'effect', run } as const;
}

export function ask(asking: Asking): PaidRequest {
  const { paymentSignature, xPayment, idempotencyKey } = asking;
  return {
    quote: { ...quote(asking.amount), paidIn: asking.paidIn, isRefund: asking.isRefund },
    payment: new RequestPayment({ paymentSignature, xPayment, idempotencyKey }),
    priceFixed: asking.priceFixed ?? false,
    mode: asking.mode ?? 'pure',
    signal: asking.signal ?? new AbortController().signal,
    prepare: async (_payer, prove) => {
      await asking.onPrepare?.(prove);
      return asking.hash ?? 'a'.repeat(64);
    },
    run: asking.run ?? numberedWork,
    dispose: async () => {},
  };
}

/** Sends a request and reports its answer as delivered. */
export async function buy({ gate }: { gate: PaymentGate }, asking: Asking): Promise<GateAnswer> {
  const answer = await gate.handle(ask(asking));
  answer.delivered(true);
  return answer;
}

/** Sends a request whose answer is lost on its way. */
export async function buyAndLose({ gate }: { gate: PaymentGate }, asking: Asking): Promise<GateAnswer> {
  const answer = await gate.handle(ask(asking));
  answer.delivered(false);
  return answer;
}

export async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return 'no error';
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
}
