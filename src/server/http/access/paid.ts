import { clientGone, type PaidRequest } from '@farthing/payment/gate/attempt';
import { type IdentityBody, requestHash } from '@farthing/payment/gate/request-identity';
import type { Quote, WorkOutcome } from '@farthing/payment/purchase';
import type { Address } from '@farthing/protocol/address';
import { type PayerId, payerTenantId } from '@farthing/protocol/id';
import type { Exchange } from '../exchange/exchange.ts';
import type { JsonReply } from '../exchange/reply.ts';
import type { Services } from './services.ts';
import { admitTenant, type WorkKind } from './workspace-access.ts';

/** Body bytes read before the payment is verified. */
const UNPROVED_BYTES_MAX = 2 ** 20;

/** A request to a paid route: one object per request; its methods are called in this order. */
export interface PaidRoute {
  /** Which of the payer's limits it counts against. */
  readonly kind: WorkKind;
  readonly mode: PaidRequest['mode'];
  /** The price does not depend on the body: a wrong amount is refused before the body is read. */
  readonly priceFixed: boolean;
  /** The price, and the paid resource. If the price is not fixed, it is quoted again after `prepare`. */
  quote(): Quote;
  /** Reads and validates the request. @throws FarthingError; nothing is charged */
  prepare(tenant: PayerId, payer: Address): Promise<Prepared>;
}

/** A request that was read. */
export interface Prepared {
  /** The validated body's part in the request's identity. */
  readonly identity: IdentityBody;
  /** Unknown fields, named in the answer. They are not part of the identity. */
  readonly warnings: readonly string[];
  /** Runs like a `PaidRequest`. @throws FarthingError; nothing is charged */
  run(signal: AbortSignal, willCharge: () => void): Promise<WorkOutcome>;
  /** Frees what `prepare` acquired. Called when the request has ended, failed or not. */
  dispose?(): Promise<void>;
}

/** Runs a route through the payment gate: 402 without a payment, the work with one, charged at most once. */
export async function paid(services: Services, exchange: Exchange, route: PaidRoute): Promise<JsonReply> {
  const request = new PaidExchange(services, exchange, route);
  const answer = await services.gate.handle(request);
  if (request.warnings.length === 0 || answer.status >= 400) return answer;
  return { ...answer, body: { ...answer.body, warnings: request.warnings } };
}

/** Applies payer limits and pins the payer's index. */
class PaidExchange implements PaidRequest {
  readonly priceFixed: boolean;
  readonly mode: PaidRequest['mode'];
  readonly signal: AbortSignal;
  readonly payment: PaidRequest['payment'];
  readonly wallet: PaidRequest['wallet'];
  readonly #services: Services;
  readonly #exchange: Exchange;
  readonly #route: PaidRoute;
  readonly #leaving: (() => void)[] = [];
  #prepared: Prepared | undefined;

  constructor(services: Services, exchange: Exchange, route: PaidRoute) {
    this.#services = services;
    this.#exchange = exchange;
    this.#route = route;
    this.priceFixed = route.priceFixed;
    this.mode = route.mode;
    this.signal = exchange.signal;
    this.payment = exchange.payment;
    this.wallet = walletOf(exchange);
  }

  get quote(): Quote {
    return this.#route.quote();
  }

  get warnings(): readonly string[] {
    return this.#prepared?.warnings ?? [];
  }

  async prepare(payer: Address, prove: () => Promise<void>): Promise<string> {
    const { tenantLimits, payerIndex, gate } = this.#services;
    const tenant = payerTenantId(payer);
    const { kind } = this.#route;
    if (kind === 'search') {
      tenantLimits.request(tenant);
      this.#leaving.push(await tenantLimits.searchInTurn(tenant, this.signal, clientGone));
    } else this.#leaving.push(admitTenant(tenantLimits, tenant, kind));
    this.#leaving.push(await payerIndex.enter(tenant));
    this.#exchange.body.proveBefore(UNPROVED_BYTES_MAX, async () => {
      await prove();
      return gate.owners.of(tenant);
    });
    this.#prepared = await this.#route.prepare(tenant, payer);
    const { method, path, query } = this.#exchange.head;
    return requestHash({ method, path, query, body: this.#prepared.identity });
  }

  async run(signal: AbortSignal, willCharge: () => void): Promise<WorkOutcome> {
    if (!this.#prepared) throw new Error('a paid request runs before it is prepared');
    return this.#prepared.run(signal, willCharge);
  }

  async dispose(): Promise<void> {
    for (const leave of this.#leaving.splice(0)) leave();
    await this.#prepared?.dispose?.();
  }
}

/** The wallet whose prepaid money is to pay; claimed by the sender, not proved. Empty where what it sent is no address. */
function walletOf(exchange: Exchange): PaidRequest['wallet'] {
  const named = exchange.header('x-prepaid-wallet')?.toLowerCase();
  if (named === undefined) return undefined;
  return /^0x[0-9a-f]{40}$/.test(named) ? (named as Address) : '';
}

/** More than any id has. */
const ID_LENGTH_MAX = 128;

/** An id from a path for a quote's resource. Truncated, because it comes back in headers. */
export function idInResource(id: string): string {
  return encodeURIComponent([...id].slice(0, ID_LENGTH_MAX).join(''));
}
