import { type PayerId, payerTenantId } from '../../domain/id.ts';
import type { Address, PreparedRequest, Quote } from '../../domain/payment.ts';
import { type IdentityBody, requestHash } from '../../payment/gate/request-identity.ts';
import type { Services } from '../services.ts';
import { admitTenant, type WorkKind } from '../workspace-access.ts';
import type { Exchange } from './exchange.ts';
import type { JsonReply } from './reply.ts';

/** What a paid route does once the payer is known: everything but the identity, which is made here. */
export type PaidWork = Omit<PreparedRequest, 'requestHash'> & {
  /** What stands for the validated body in the request's identity. */
  readonly identity: IdentityBody;
  /** Unknown fields, named in the answer. They don't belong to the identity. */
  readonly warnings?: readonly string[];
};

export interface PaidTerms {
  readonly quote: Quote;
  /** The quote holds whatever the body says. */
  readonly priceFixed: boolean;
  readonly kind?: WorkKind;
}

/**
 * Runs a route through the payment gate: 402 without a payment, the work with one, charged at most once. While the work runs, the payer's index is not disposed of.
 */
export async function paid(
  { gate, payerIndex, tenantLimits }: Services,
  exchange: Exchange,
  { quote, priceFixed, kind = 'other' }: PaidTerms,
  prepare: (tenant: PayerId, payer: Address) => Promise<PaidWork>,
): Promise<JsonReply> {
  const { method, path, query } = exchange.head;
  let warnings: readonly string[] = [];
  const answer = await gate.handle({
    quote,
    priceFixed,
    credentials: {
      xPayment: exchange.header('x-payment'),
      paymentSignature: exchange.header('payment-signature'),
      idempotencyKey: exchange.header('idempotency-key'),
    },
    signal: exchange.signal,
    prepare: async (payer) => {
      const tenant = payerTenantId(payer);
      const giveBack = admitTenant(tenantLimits, tenant, kind);
      let leaveIndex = () => {};
      const leave = () => {
        giveBack();
        leaveIndex();
      };
      try {
        leaveIndex = await payerIndex.enter(tenant);
        const { identity, warnings: unknown = [], dispose, ...work } = await prepare(tenant, payer);
        warnings = unknown;
        return {
          ...work,
          requestHash: requestHash({ method, path, query, body: identity }),
          dispose: async () => {
            leave();
            await dispose?.();
          },
        };
      } catch (error) {
        leave();
        throw error;
      }
    },
  });
  if (warnings.length === 0 || answer.status >= 400) return answer;
  return { ...answer, body: { ...answer.body, warnings } };
}

/** More than any id has. */
const ID_LENGTH_MAX = 128;

/** An id from a path, as a quote's resource carries it: cut off, since it comes back in headers. */
export function idInResource(id: string): string {
  return encodeURIComponent([...id].slice(0, ID_LENGTH_MAX).join(''));
}

/** True when the request carries no payment at all: it is answered 402 before anything in it is validated. */
export function isUnpaid(exchange: Exchange): boolean {
  return exchange.header('x-payment') === undefined && exchange.header('payment-signature') === undefined;
}
