import type { Discovery, Quote, WorkOutcome } from '@farthing/payment/purchase';
import type { Address } from '@farthing/protocol/address';
import { type AtomicAmount, formatUsd, parseUsd } from '@farthing/protocol/money';
import {
  PREPAY_USD_MIN,
  PrepaidBalanceSchema,
  PrepaidRefundRequestSchema,
  PrepaidRefundSchema,
  PrepaidSchema,
  type Prepay,
  PrepaySchema,
} from '@farthing/protocol/schema/prepaid';
import type { TSchema } from '@sinclair/typebox';
import { type PaidRoute, paid } from '../access/paid.ts';
import type { Services } from '../access/services.ts';
import { readSmallObject, type SmallObject } from '../access/small-object.ts';
import { balanceDiscovery, prepayDiscovery, refundDiscovery } from '../docs/discovery.ts';
import { Validator } from '../exchange/json.ts';
import type { Operation, Route } from '../exchange/route.ts';

/** Both bodies have the same field. */
const validator = new Validator(PrepaySchema);
const MIN = String(PREPAY_USD_MIN);

/** POST /agent/v1/prepaid: money that later requests are paid from, without a transaction each. */
export function prepayRoute(services: Services): Route {
  return stepRoute(
    services,
    {
      operationId: 'prepay',
      summary: 'Pay in advance',
      success: { status: 200, description: 'What can be spent now.', schema: PrepaidSchema },
    },
    PrepaySchema,
    {
      path: '/agent/v1/prepaid',
      description: 'Money paid in advance, for later requests.',
      discovery: prepayDiscovery,
      paidIn: 'coin',
      buy: (payer, amount) => services.purchases.prepaying.buy(payer, amount),
    },
  );
}

/** GET /agent/v1/prepaid: what a wallet has prepaid, for its signature over a payment of nothing. */
export function balanceRoute(services: Services): Route {
  return {
    method: 'GET',
    path: '/agent/v1/prepaid',
    operation: {
      operationId: 'prepaidBalance',
      summary: 'What you have prepaid',
      tag: 'Per request',
      security: 'payment',
      success: { status: 200, description: 'Your balance.', schema: PrepaidBalanceSchema },
      errors: [500, 503],
    },
    handle: (exchange) =>
      services.gate.balance(exchange.payment, {
        amount: 0n,
        resource: `${services.baseUrl()}/agent/v1/prepaid`,
        description: 'Your prepaid balance: sign a payment of nothing.',
        discovery: balanceDiscovery,
        paidIn: 'prepaid',
      }),
  };
}

/** POST /agent/v1/prepaid/refund: prepaid money back, by the signature of the wallet that it belongs to. */
export function refundRoute(services: Services): Route {
  return stepRoute(
    services,
    {
      operationId: 'refundPrepaid',
      summary: 'Get prepaid money back',
      success: { status: 200, description: 'What is owed to you.', schema: PrepaidRefundSchema },
    },
    PrepaidRefundRequestSchema,
    {
      path: '/agent/v1/prepaid/refund',
      description: 'Prepaid money, owed back to its payer.',
      discovery: refundDiscovery,
      paidIn: 'prepaid',
      isRefund: true,
      buy: (payer, amount) => services.purchases.refunds.buy(payer, amount),
    },
  );
}

interface Step {
  readonly path: string;
  readonly description: string;
  readonly discovery: Discovery;
  readonly paidIn: NonNullable<Quote['paidIn']>;
  readonly isRefund?: true;
  readonly buy: (payer: Address, amount: AtomicAmount) => Promise<WorkOutcome>;
}

function stepRoute(
  services: Services,
  operation: Pick<Operation, 'operationId' | 'summary' | 'success'>,
  schema: TSchema,
  step: Step,
): Route {
  return {
    method: 'POST',
    path: step.path,
    operation: {
      ...operation,
      tag: 'Per request',
      security: 'payment',
      price: {
        dynamic: 'the amount in the body',
        minUsd: MIN,
        maxUsd: formatUsd(services.prepaidUsdMax),
      },
      requestBody: { schema, required: true, example: step.discovery.bodyExample },
      errors: [400, 409, 413, 422, 429, 500, 503],
    },
    handle: async (exchange) => {
      const body = await readSmallObject(services, exchange);
      return paid(services, exchange, paidStep(services, body, step));
    },
  };
}

/** Money into the balance or out of it: its price is the amount itself. */
function paidStep({ baseUrl }: Services, body: SmallObject, { path, buy, ...step }: Step): PaidRoute {
  const quoted = amountOf(validator.lenient(body.object ?? {}).usd);
  return {
    kind: 'other',
    mode: 'effect',
    priceFixed: false,
    quote: () => ({ amount: quoted, resource: baseUrl() + path, ...step }),
    prepare: async (_, payer) => {
      if (body.failure) throw body.failure;
      const { value, warnings } = validator.validate(body.object ?? {});
      const amount = amountOf((value as Prepay).usd);
      return {
        identity: { kind: 'json', value: { usd: formatUsd(amount) } },
        warnings,
        run: () => buy(payer, amount),
      };
    },
  };
}

/** To millionths. An invalid amount is quoted as the least one, and refused once it is paid for. */
function amountOf(usd: number | undefined): AtomicAmount {
  return parseUsd(usd === undefined ? MIN : usd.toFixed(6));
}
