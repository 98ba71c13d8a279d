import { payerTenantId } from '../../domain/id.ts';
import { parsePaymentHeader } from '../../payment/wire/payment-header.ts';
import { credentialsOf } from '../access/paid.ts';
import type { Services, ServicesBySlot } from '../access/services.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Route } from '../exchange/route.ts';

/** Routes whose requests are answered by the slot that they lead to. @param table makes the routes of one slot */
export function routesBySlot({ all, of }: ServicesBySlot, table: (services: Services) => Route[]): Route[] {
  const first = table(all[0]);
  if (all.length === 1) return first;
  const handlers = new Map(all.map((services) => [services, table(services).map((route) => route.handle)]));
  return first.map((route, index) => ({
    ...route,
    handle: (exchange, params) => {
      const key = keyOf(route, exchange, params);
      const services = key === undefined ? all[0] : of(key);
      return handlers.get(services)![index]!(exchange, params);
    },
  }));
}

/** The id that leads to the slot: of the payer, the workspace or the job. Undefined without a payment: any slot asks for one. */
function keyOf(
  { operation }: Route,
  exchange: Exchange,
  { id, job_id }: Readonly<Record<string, string>>,
): string | undefined {
  return operation?.security === 'payment' ? payerOf(exchange) : (id ?? job_id);
}

/** Undefined, too, for a payment that any slot refuses, because it cannot be read. */
function payerOf(exchange: Exchange): string | undefined {
  try {
    const parsed = parsePaymentHeader(credentialsOf(exchange));
    return parsed && payerTenantId(parsed.payment.payer);
  } catch {
    return undefined;
  }
}
