import { payerTenantId } from '../../domain/id.ts';
import { parsePaymentHeader } from '../../payment/wire/payment-header.ts';
import { credentialsOf } from '../access/paid.ts';
import type { Services, ServicesBySlot } from '../access/services.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Route } from '../exchange/route.ts';
import { promptReplies } from './prompt-replies.ts';
import { stableReplies } from './stable-replies.ts';

const AGENT_PATHS = '/agent/';

/** Routes whose requests are answered by the slot that they lead to. @param table makes the routes of one slot */
export function routesBySlot({ all, of }: ServicesBySlot, table: (services: Services) => Route[]): Route[] {
  const first = tableOf(all[0], table);
  if (all.length === 1) return first;
  const handlers = new Map(
    all.map((services) => [services, tableOf(services, table).map((route) => route.handle)]),
  );
  return first.map((route, index) => ({
    ...route,
    handle: (exchange, params) => {
      const key = keyOf(route, exchange, params);
      const services = key === undefined ? all[0] : of(key);
      return handlers.get(services)![index]!(exchange, params);
    },
  }));
}

function tableOf(services: Services, table: (services: Services) => Route[]): Route[] {
  const { stable, lagMs = () => 0 } = services;
  const routes = table(services);
  if (!stable) return routes;
  // The others tell of no book, and say how the server is.
  return routes.map((route) =>
    route.path.startsWith(AGENT_PATHS)
      ? { ...route, handle: promptReplies(stableReplies(route.handle, stable), lagMs) }
      : route,
  );
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
